// 100 bytes at a time at random positions, 16 reads at once, by fs/promises. Usage: node files.js reads FILE COUNT
const { open } = require('fs/promises');

(async () => {
    const [, , , path, count] = process.argv;
    const file = await open(path);
    const { size } = await file.stat();
    const start = process.cpuUsage();
    let [next, total] = [0, 0];
    const work = async () => {
        while (next < Number(count)) {
            const index = next++;
            total += (await file.read(Buffer.allocUnsafe(100), 0, 100, (index * 7919) % (size - 100))).bytesRead;
        }
    };
    await Promise.all(Array.from({ length: 16 }, work));
    const { user, system } = process.cpuUsage(start);
    if (total !== 100 * count) throw new Error(`only ${total} bytes`);
    console.log((user + system) * 1000);
    await file.close();
})();
