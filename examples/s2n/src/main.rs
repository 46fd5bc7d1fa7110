//! A server that sends as many bytes as a client asks for, over s2n-quic with its own congestion control.
//!
//! ```text
//! s2n-transfer serve 0.0.0.0:4433 key.pem certificate.pem
//! s2n-transfer get 127.0.0.1:4433 certificate.pem 10000000
//! ```

use std::error::Error;
use std::net::SocketAddr;
use std::path::Path;

use s2n_quic::client::Connect;
use s2n_quic::{Client, Server};

/// The name in the server's certificate.
const NAME: &str = "transfer";
const USAGE: &str = "usage: s2n-transfer serve ADDRESS KEY CERTIFICATE, or s2n-transfer get ADDRESS CERTIFICATE BYTES";

type Failure = Box<dyn Error>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match &words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve", address, key, certificate] => serve(address, Path::new(key), Path::new(certificate)).await,
        ["get", address, certificate, bytes] => get(address.parse()?, Path::new(certificate), bytes.parse()?).await,
        _ => Err(USAGE.into()),
    }
}

async fn serve(address: &str, key: &Path, certificate: &Path) -> Result<(), Failure> {
    let mut server = Server::builder().with_tls((certificate, key))?.with_io(address)?.start()?;
    while let Some(mut connection) = server.accept().await {
        tokio::spawn(async move {
            while let Ok(Some(mut stream)) = connection.accept_bidirectional_stream().await {
                let mut asked = Vec::new();
                while let Some(data) = stream.receive().await? {
                    asked.extend_from_slice(&data);
                }
                let Ok(size) = <[u8; 8]>::try_from(asked) else { break };
                stream.send(vec![0; u64::from_be_bytes(size) as usize].into()).await?;
                stream.finish()?;
            }
            Ok::<(), s2n_quic::stream::Error>(())
        });
    }
    Ok(())
}

/// Ends with the last byte.
async fn get(address: SocketAddr, certificate: &Path, bytes: u64) -> Result<(), Failure> {
    let client = Client::builder().with_tls(certificate)?.with_io("0.0.0.0:0")?.start()?;
    let mut connection = client.connect(Connect::new(address).with_server_name(NAME)).await?;
    let mut stream = connection.open_bidirectional_stream().await?;
    stream.send(bytes.to_be_bytes().to_vec().into()).await?;
    stream.finish()?;
    let mut received = 0;
    while let Some(data) = stream.receive().await? {
        received += data.len() as u64;
    }
    println!("received {received} B");
    std::process::exit(i32::from(received != bytes));
}
