// The same echo server on Node.js.
// Usage: echo.js [PORT]; 0, the default, picks one.
'use strict';
const net = require('node:net');

const server = net.createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
  socket.on('data', (chunk) => {
    if (!socket.write(chunk)) socket.pause();
  });
  socket.on('drain', () => socket.resume());
  socket.on('end', () => socket.end());
  socket.on('error', () => socket.destroy());
});
server.listen({ host: '127.0.0.1', port: Number(process.argv[2] ?? 0), backlog: 4096 }, () => {
  console.log(`listening on 127.0.0.1:${server.address().port}`);
});
