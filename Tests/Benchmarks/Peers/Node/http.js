// The same server of HTTP/1.1 on Node.js.
// Usage: http.js [PORT]; 0, the default, picks one.
'use strict';
const http = require('node:http');

const filler = Buffer.alloc(1 << 20, 'x');
const answer = (response, status, type, body) => {
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': body.length });
  response.end(body);
};
const hello = Buffer.from('Hello, world!\n'), missing = Buffer.from('there is nothing at this path\n');
const server = http.createServer({ noDelay: true, keepAliveTimeout: 75_000 }, (request, response) => {
  if (request.url === '/hello') return answer(response, 200, 'text/plain', hello);
  if (request.url.startsWith('/bytes/')) {
    const count = Number(request.url.slice(7));
    if (count <= filler.length) return answer(response, 200, 'application/octet-stream', filler.subarray(0, count));
  }
  answer(response, 404, 'text/plain; charset=utf-8', missing);
});
server.listen({ host: '127.0.0.1', port: Number(process.argv[2] ?? 0), backlog: 4096 }, () => {
  console.log(`listening on 127.0.0.1:${server.address().port}`);
});
