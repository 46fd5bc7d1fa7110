//! Client and server, once for both stacks: noq began as a copy of quinn, and what is used here has the same names.

/// Declares the module `$module` for the stack `$stack` with the controls of `$adapter`; `$lost` gives a connection's lost packets.
macro_rules! stack {
    ($module:ident, $stack:ident, $adapter:ident, $lost:expr) => {
        mod $module {
            use std::error::Error;
            use std::net::SocketAddr;
            use std::sync::Arc;
            use std::time::Instant;

            use $stack::crypto::rustls::{QuicClientConfig, QuicServerConfig};
            use $stack::{ClientConfig, Connection, Endpoint, ServerConfig, TransportConfig};

            use crate::arguments::{Arguments, Role};
            use crate::observer::Observer;
            use crate::tls;

            type Failure = Box<dyn Error>;

            pub(crate) async fn run(Arguments { role, address, control, .. }: Arguments) -> Result<(), Failure> {
                let observer = Observer::default();
                let mut transport = TransportConfig::default();
                transport.congestion_controller_factory(Arc::new($adapter::Factory::from(observer.controls(&control)?)));
                match role {
                    Role::Serve { once } => serve(address, transport, &observer, once).await,
                    Role::Get { bytes } => get(address, transport, bytes).await,
                }
            }

            async fn serve(address: SocketAddr, transport: TransportConfig, observer: &Observer, once: bool) -> Result<(), Failure> {
                let mut config = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls::server()?)?));
                config.transport_config(Arc::new(transport));
                let endpoint = Endpoint::server(config, address)?;
                eprintln!("listening on {}", endpoint.local_addr()?);
                while let Some(incoming) = endpoint.accept().await {
                    if let Err(error) = answer(incoming.await?, observer).await {
                        eprintln!("{error}");
                    }
                    if once {
                        break;
                    }
                }
                endpoint.wait_idle().await;
                Ok(())
            }

            /// Sends as many bytes as the client asks for, and waits until it has them.
            async fn answer(connection: Connection, observer: &Observer) -> Result<(), Failure> {
                let (mut send, mut receive) = connection.accept_bi().await?;
                let mut asked = [0; 8];
                receive.read_exact(&mut asked).await?;
                let (begun, mut left) = (Instant::now(), u64::from_be_bytes(asked));
                let zeros = [0; 1 << 16];
                while left > 0 {
                    let size = left.min(zeros.len() as u64);
                    send.write_all(&zeros[..size as usize]).await?;
                    left -= size;
                }
                send.finish()?;
                send.stopped().await?;
                let time = begun.elapsed().as_secs_f64();
                let lost: fn(&Connection) -> u64 = $lost;
                println!("sent {} B in {time:.3} s, {} packets lost, {}", u64::from_be_bytes(asked), lost(&connection), observer.report());
                connection.closed().await;
                Ok(())
            }

            async fn get(address: SocketAddr, transport: TransportConfig, bytes: u64) -> Result<(), Failure> {
                let mut config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls::client()?)?));
                config.transport_config(Arc::new(transport));
                let any: SocketAddr = if address.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { ([0_u16; 8], 0).into() };
                let endpoint = Endpoint::client(any)?;
                let begun = Instant::now();
                let connection = endpoint.connect_with(config, address, tls::NAME)?.await?;
                let (mut send, mut receive) = connection.open_bi().await?;
                send.write_all(&bytes.to_be_bytes()).await?;
                send.finish()?;
                let (mut buffer, mut received) = (vec![0; 1 << 16], 0);
                while let Some(size) = receive.read(&mut buffer).await? {
                    received += size as u64;
                }
                let time = begun.elapsed().as_secs_f64();
                println!("received {received} B in {time:.3} s, {:.2} Mbit/s", 8e-6 * received as f64 / time);
                connection.close(0_u32.into(), b"done");
                endpoint.wait_idle().await;
                Ok(())
            }
        }
    };
}
pub(crate) use stack;
