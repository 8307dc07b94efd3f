// Uses the addon as a program would, and fails unless everything is as it should be.
const assert = require('node:assert')
const fs = require('node:fs')
const net = require('node:net')
const path = require('node:path')
const { Worker, isMainThread, parentPort } = require('node:worker_threads')

process.env.ADDON ??= path.resolve(process.argv[2])
const addon = require(process.env.ADDON)

const threads = () => fs.readdirSync('/proc/self/task').length
const sleep = (time) => new Promise((resolve) => setTimeout(resolve, time))

function echo(port, text) {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, '127.0.0.1', () => socket.write(text))
    socket.on('error', reject)
    socket.on('data', (data) => { resolve(data.toString()); socket.destroy() })
  })
}

// As many promises backed by Swift, beside timers and files of Node's own.
async function promises(count) {
  // In processor time too: others may have the processor meanwhile.
  const processorTime = () => { const used = process.cpuUsage(); return (used.user + used.system) / 1000 }
  let longest = 0
  let last = performance.now()
  let lastUsed = processorTime()
  const interval = setInterval(() => {
    const [now, used] = [performance.now(), processorTime()]
    longest = Math.max(longest, Math.min(now - last - 10, used - lastUsed))
    last = now
    lastUsed = used
  }, 10)
  const files = (async () => { for (let i = 0; i < 100; i++) await fs.promises.readFile(__filename) })()
  const batch = 1000
  for (let start = 0; start < count; start += batch) {
    const order = []
    const all = []
    for (let i = 0; i < batch; i++) all.push(addon.soon(start + i).then((value) => order.push(value)))
    await Promise.all(all)
    order.forEach((value, index) => assert.equal(value, start + index, 'promises are first in, first out'))
    await sleep(0)
  }
  await files
  clearInterval(interval)
  return longest
}

async function work() {
  const before = Date.now()
  assert.equal(await addon.delay(20, 7), 7)
  assert(Date.now() - before >= 19, 'a timer is never early')

  const order = []
  await Promise.all(Array.from({ length: 100 }, (_, i) => addon.delay(5, i).then((value) => order.push(value))))
  assert.deepEqual(order, Array.from({ length: 100 }, (_, i) => i), 'timers are first in, first out')

  await assert.rejects(addon.delay(-1, 0), /negative/)

  // Asynchronous Swift functions, side by side; in a worker too.
  const limits = [1000, 0, 100, 3]
  assert.deepEqual(await Promise.all(limits.map((limit) => addon.primes(limit))), [168, 0, 25, 1])
  await assert.rejects(addon.primes(-1), /no prime below -1/)
  assert.throws(() => addon.primes(NaN), /no whole number/)

  const port = addon.listen()
  assert.equal(await echo(port, 'hello from Node'), 'hello from Node')
  addon.close()
}

function memoryInUse() {
  global.gc?.()
  return process.memoryUsage()
}

async function main() {
  await work()

  const count = Number(process.env.PROMISES || 100000)
  // Node starts its threads for files with the first four.
  await Promise.all(Array.from({ length: 8 }, () => fs.promises.readFile(__filename)))
  const before = threads()
  const first = await promises(count)
  const memory = memoryInUse()
  const second = await promises(count)
  const later = memoryInUse()
  // V8 takes room for its heap 4 MiB at a time, at a moment of its own choice: what it holds is compared, not the room.
  const growth = (later.rss - later.heapTotal + memory.heapTotal) / memory.rss
  assert(Math.max(first, second) < 100, `an interval was ${Math.max(first, second)} ms late`)
  assert(growth < 1.05 || count < 100000, `memory grew by a factor of ${growth}`)
  const growthOfHeap = later.heapUsed / memory.heapUsed
  assert(!global.gc || growthOfHeap < 1.05 || count < 100000, `what V8's heap holds grew by a factor of ${growthOfHeap}`)
  assert(threads() <= before, 'there are more threads')

  // Nothing is under way: Swift takes no time of Node's, whatever ran before.
  const used = process.cpuUsage()
  await sleep(1000)
  const { user, system } = process.cpuUsage(used)
  assert(user + system < 100000, `an idle second took ${(user + system) / 1000} ms of processor time`)

  // A worker that ends by itself, and one that is terminated while its server has connections.
  const finished = new Worker(__filename)
  assert.equal(await new Promise((resolve) => finished.on('exit', resolve)), 0)
  for (let i = 0; i < 5; i++) {
    const worker = new Worker(__filename, { workerData: 'serve', env: { ...process.env, SERVE: '1' } })
    const port = await new Promise((resolve) => worker.on('message', resolve))
    assert.equal(await echo(port, 'hello, worker'), 'hello, worker')
    const open = net.connect(port, '127.0.0.1')
    await new Promise((resolve) => open.on('connect', resolve))
    open.on('error', () => {})
    await worker.terminate()
    open.destroy()
  }
  console.log('Node: passed')
}

async function inWorker() {
  if (!process.env.SERVE) return work()
  parentPort.postMessage(addon.listen())
  addon.delay(1e9, 0).catch(() => {})
  // Under way when the worker is terminated.
  const again = () => addon.primes(2000).then(again)
  again()
}

(isMainThread ? main() : inWorker()).catch((error) => { console.error(error); process.exit(1) })
