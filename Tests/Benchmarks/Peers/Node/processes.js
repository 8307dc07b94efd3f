// As Sources/ProcessStarts: how long it takes to start /bin/true, and to hear of its end.
// Usage: processes.js COUNT MEGABYTES
'use strict';
const { spawn } = require('node:child_process');
const [count, megabytes] = process.argv.slice(2).map(Number);
const ballast = Buffer.alloc(megabytes * 1048576, 1);

function measure(left) {
  if (left === 0) return ballast.length;
  const start = process.hrtime.bigint();
  const child = spawn('/bin/true', { stdio: ['ignore', 'inherit', 'inherit'] });
  console.log(`blocked ${Number(process.hrtime.bigint() - start) / 1000}`);
  child.on('exit', () => {
    console.log(`ended ${Number(process.hrtime.bigint() - start) / 1000}`);
    measure(left - 1);
  });
}
measure(count);
