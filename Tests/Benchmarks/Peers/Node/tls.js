// The same encrypted echo server on Node.js, and a plain one beside it.
// Usage: tls.js CERTIFICATE KEY
'use strict';
const fs = require('node:fs');
const net = require('node:net');
const tls = require('node:tls');

function echo(socket) {
  socket.on('data', (chunk) => {
    if (!socket.write(chunk)) socket.pause();
  });
  socket.on('drain', () => socket.resume());
  socket.on('end', () => socket.end());
  socket.on('error', () => socket.destroy());
}

function listen(server, what, next) {
  server.listen({ host: '127.0.0.1', port: 0, backlog: 4096 }, () => {
    console.log(`${what} on 127.0.0.1:${server.address().port}`);
    next();
  });
}

const [cert, key] = process.argv.slice(2).map((path) => fs.readFileSync(path));
// Clients that are cut off on purpose are nothing to tell of.
const encrypted = tls.createServer({ cert, key, noDelay: true, minVersion: 'TLSv1.2' }, echo).on('tlsClientError', () => {});
listen(net.createServer({ noDelay: true }, echo), 'plain', () => listen(encrypted, 'listening', () => {}));
