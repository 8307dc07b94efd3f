// Loads an addon that Node may unload in workers only, one after another, each of which is terminated.
// usage: node addon.js FILE
const net = require('node:net')
const { Worker } = require('node:worker_threads')

const inWorker = `
  const port = require(process.argv[2])
  require('node:worker_threads').parentPort.postMessage(port)`

async function main() {
  for (let i = 0; i < 3; i++) {
    const worker = new Worker(inWorker, { eval: true, argv: [process.argv[2]] })
    const port = await new Promise((resolve, reject) => worker.on('message', resolve).on('error', reject))
    const open = net.connect(port, '127.0.0.1')
    await new Promise((resolve) => open.on('connect', resolve))
    open.on('error', () => {})
    await worker.terminate()
    open.destroy()
  }
  console.log('Node, unload: passed')
}

main().catch((error) => { console.error(error); process.exit(1) })
