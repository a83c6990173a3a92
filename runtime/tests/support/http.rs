//! A little HTTP for tests: requests by hand, and servers that say always the same.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Posts a message to a port of the loopback address, and gives the whole answer.
pub async fn post(port: u16, path: &str, message: &str) -> String {
    request(port, "POST", path, message, "").await
}

/// The same, with what the server gave for a password.
pub async fn post_as(port: u16, path: &str, message: &str, pass: &str) -> String {
    request(port, "POST", path, message, &format!("authorization: {pass}\r\n")).await
}

pub async fn request(port: u16, method: &str, path: &str, message: &str, headers: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.expect("it is up");
    let length = message.len();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n{message}"
    );
    stream.write_all(request.as_bytes()).await.expect("it listens");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.expect("it answers");
    String::from_utf8_lossy(&answer).into_owned()
}

/// A server that answers whatever it is asked with these bytes; gives its port.
pub async fn always(answer: &'static str) -> u16 {
    serve(move |mut stream| async move { stream.write_all(answer.as_bytes()).await }).await
}

/// A server whose answer does not end.
pub async fn endless() -> u16 {
    serve(|mut stream| async move {
        stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").await?;
        let chunk = format!("{:x}\r\n{}\r\n", 65_536, " ".repeat(65_536));
        loop {
            stream.write_all(chunk.as_bytes()).await?;
        }
    })
    .await
}

async fn serve<F>(answer: impl Fn(TcpStream) -> F + Send + 'static) -> u16
where
    F: Future<Output = std::io::Result<()>> + Send,
{
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("there is a free port");
    let port = listener.local_addr().expect("a bound socket has an address").port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut asked = [0; 4096];
            if stream.read(&mut asked).await.is_ok() {
                // Whoever asked may have gone.
                let _told = answer(stream).await;
            }
        }
    });
    port
}
