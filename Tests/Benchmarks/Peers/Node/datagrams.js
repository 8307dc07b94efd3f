// The same echo server of datagrams on Node.js.
'use strict';
const dgram = require('node:dgram');

const server = dgram.createSocket({ type: 'udp4', recvBufferSize: 2 * 1024 * 1024 });
server.on('message', (message, peer) => server.send(message, peer.port, peer.address));
server.bind(0, '127.0.0.1', () => console.log(`listening on 127.0.0.1:${server.address().port}`));
