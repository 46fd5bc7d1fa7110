//! A server that sends as many bytes as a client asks for, over quinn or noq, with any of Ackclock's controls.
//!
//! ```text
//! transfer quinn serve 0.0.0.0:4433 --control hystart_pp
//! transfer quinn get 127.0.0.1:4433 10000000
//! ```

mod arguments;
mod observer;
mod stack;
mod tls;

use std::error::Error;
use std::process::ExitCode;

use arguments::{Arguments, Stack};

stack::stack!(with_quinn, quinn, ackclock_quinn, |connection| connection.stats().path.lost_packets);
stack::stack!(with_noq, noq, ackclock_noq, |connection| connection.stats().lost_packets);

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments = match Arguments::read(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::from(2);
        }
    };
    match run(arguments).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Arguments) -> Result<(), Box<dyn Error>> {
    match arguments.stack {
        Stack::Quinn => with_quinn::run(arguments).await,
        Stack::Noq => with_noq::run(arguments).await,
    }
}
