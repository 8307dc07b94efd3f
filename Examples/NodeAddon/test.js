// Uses the addon as a program would, and fails unless everything is as it should be.
// usage: node --expose-gc test.js FILE [main|worker|workers|terminated]    where it is loaded
const assert = require('node:assert')
const fs = require('node:fs')
const net = require('node:net')
const path = require('node:path')
const { Worker, isMainThread, parentPort } = require('node:worker_threads')
const { work, echo } = require('./work.js')

process.env.ADDON ??= path.resolve(process.argv[2])
const mode = process.argv[3] ?? 'main'
const addon = isMainThread && mode !== 'main' ? undefined : require(process.env.ADDON)

const threads = () => fs.readdirSync('/proc/self/task').length
const sleep = (time) => new Promise((resolve) => setTimeout(resolve, time))

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

function memoryInUse() {
  global.gc?.()
  return process.memoryUsage()
}

async function main() {
  await work(addon)

  const count = Number(process.env.PROMISES || 100000)
  // Node starts its threads for files with the first four.
  await Promise.all(Array.from({ length: 8 }, () => fs.promises.readFile(__filename)))
  const before = threads()
  let longest = await promises(count)
  let memory = memoryInUse()
  let growth, growthOfHeap
  // What is lost grows in each round; V8's compiler and the C library's allocator take more in one or another.
  for (let round = 0; round < 5; round++) {
    longest = Math.max(longest, await promises(count))
    const later = memoryInUse()
    // V8 takes room for its heap 4 MiB at a time, at a moment of its own choice: what it holds is compared, not the room.
    growth = (later.rss - later.heapTotal + memory.heapTotal) / memory.rss
    growthOfHeap = later.heapUsed / memory.heapUsed
    if (growth < 1.05 && (!global.gc || growthOfHeap < 1.05)) break
    memory = later
  }
  assert(longest < 100, `an interval was ${longest} ms late`)
  assert(growth < 1.05 || count < 100000, `memory grew by a factor of ${growth} in each of five rounds`)
  assert(!global.gc || growthOfHeap < 1.05 || count < 100000, `what V8's heap holds grew by a factor of ${growthOfHeap} in each of five rounds`)
  assert(threads() <= before, 'there are more threads')

  // Nothing is under way: Swift takes no time of Node's, whatever ran before.
  const used = process.cpuUsage()
  await sleep(1000)
  const { user, system } = process.cpuUsage(used)
  assert(user + system < 100000, `an idle second took ${(user + system) / 1000} ms of processor time`)

  await inWorkers(1)
  await inTerminated(5)
}

// Each in the place of the one before, which has ended by itself.
async function inWorkers(count) {
  for (let i = 0; i < count; i++) {
    const worker = new Worker(__filename)
    assert.equal(await new Promise((resolve) => worker.on('exit', resolve)), 0)
  }
}

// Terminated while its server has connections, and timers, bodies and JavaScript promises are pending.
async function inTerminated(count) {
  for (let i = 0; i < count; i++) {
    const worker = new Worker(__filename, { env: { ...process.env, SERVE: '1' } })
    const port = await new Promise((resolve) => worker.on('message', resolve))
    assert.equal(await echo(port, 'hello, worker'), 'hello, worker')
    const open = net.connect(port, '127.0.0.1')
    await new Promise((resolve) => open.on('connect', resolve))
    open.on('error', () => {})
    await worker.terminate()
    open.destroy()
  }
}

async function inWorker() {
  if (!process.env.SERVE) return work(addon)
  parentPort.postMessage(addon.listen())
  addon.delay(1e9, 0).catch(() => {})
  addon.twice(new Promise(() => {})).catch(() => {})
  addon.ticker(1, () => {})
  addon.watchFile(__filename, () => {}).catch(() => {})
  addon.run('/bin/sleep', '1000').catch(() => {})
  // Under way when the worker is terminated.
  const again = () => addon.primes(2000).then(again)
  again()
}

const modes = { main, worker: () => inWorkers(1), workers: () => inWorkers(4), terminated: () => inTerminated(1) }

async function run() {
  if (!isMainThread) return inWorker()
  await modes[mode]()
  console.log('Node: passed')
}

run().catch((error) => { console.error(error); process.exit(1) })
