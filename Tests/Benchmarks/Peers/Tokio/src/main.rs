// The same echo server on tokio, on one thread.
// Usage: echo [--lines]

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpSocket, TcpStream};

async fn echo(mut socket: TcpStream) -> std::io::Result<()> {
    let mut buffer = vec![0; 65536];
    loop {
        let count = socket.read(&mut buffer).await?;
        if count == 0 {
            return Ok(());
        }
        socket.write_all(&buffer[..count]).await?;
    }
}

async fn echo_lines(socket: TcpStream) -> std::io::Result<()> {
    let mut socket = BufReader::with_capacity(65536, socket);
    let mut line = Vec::new();
    while socket.read_until(b'\n', &mut line).await? > 0 {
        socket.write_all(&line).await?;
        line.clear();
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let by_lines = std::env::args().any(|argument| argument == "--lines");
    let socket = TcpSocket::new_v4()?;
    socket.bind("127.0.0.1:0".parse().unwrap())?;
    let listener = socket.listen(4096)?;
    println!("listening on {}", listener.local_addr()?);
    loop {
        let (socket, _) = listener.accept().await?;
        socket.set_nodelay(true)?;
        if by_lines {
            tokio::spawn(echo_lines(socket));
        } else {
            tokio::spawn(echo(socket));
        }
    }
}
