// What the addon does, in the main thread and in workers.
const assert = require('node:assert')
const { once } = require('node:events')
const dgram = require('node:dgram')
const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')

// Collects garbage until `condition` holds: the collector may need to be asked more than once.
async function collectUntil(condition) {
  for (let i = 0; i < 1000 && !condition(); i++) {
    global.gc()
    await new Promise(setImmediate)
  }
  assert(condition(), 'something is never collected')
}

async function echo(port, text) {
  const socket = net.connect(port, '127.0.0.1')
  socket.write(text)
  const [data] = await once(socket, 'data')
  socket.destroy()
  return data.toString()
}

async function echoByDatagrams(port, text) {
  const socket = dgram.createSocket('udp4')
  // Swift and Node are on one loop.
  socket.send(text, port, '127.0.0.1')
  const [data] = await once(socket, 'message')
  socket.close()
  return data.toString()
}

async function futures(addon) {
  const before = Date.now()
  assert.equal(await addon.delay(20, 7), 7)
  assert(Date.now() - before >= 19, 'a timer is never early')

  const order = []
  await Promise.all(Array.from({ length: 100 }, (_, i) => addon.delay(5, i).then((value) => order.push(value))))
  assert.deepEqual(order, Array.from({ length: 100 }, (_, i) => i), 'timers are first in, first out')

  // Asynchronous Swift functions, side by side.
  const limits = [1000, 0, 100, 3]
  assert.deepEqual(await Promise.all(limits.map((limit) => addon.primes(limit))), [168, 0, 25, 1])

  const port = addon.listen()
  assert.equal(await echo(port, 'hello from Node'), 'hello from Node')
  assert.equal(await echoByDatagrams(port, 'hello by UDP'), 'hello by UDP')
  assert.equal(await addon.connect(port), port)
  addon.close()
}

async function errors(addon) {
  await assert.rejects(addon.delay(-1, 0), /negative/)
  await assert.rejects(addon.primes(-1), /no prime below -1/)
  assert.throws(() => addon.primes(NaN), /no whole number/)
  assert.throws(() => addon.soon('7'), /A number was expected/)
  await assert.rejects(addon.connect(1), { code: 'ECONNREFUSED' })

  // What JavaScript has thrown comes back as it was, through Swift.
  const error = new Error('of JavaScript')
  await assert.rejects(addon.twice(Promise.reject(error)), (rejected) => rejected === error)
  await assert.rejects(addon.twice(Promise.reject(7)), (rejected) => rejected === 7)
  const hostile = { toString() { throw new Error('no text') } }
  await assert.rejects(addon.twice(Promise.reject(hostile)), (rejected) => rejected === hostile)
  await assert.rejects(addon.twice({ get then() { throw error } }), (rejected) => rejected === error)
  await assert.rejects(addon.twice(Promise.resolve('7')), /A number was expected/)
  await assert.rejects(addon.twice(7), /Invalid argument/)

  const uncaught = new Promise((resolve) => process.once('uncaughtException', resolve))
  addon.callLater(() => { throw error })
  assert.equal(await uncaught, error)
}

async function values(addon) {
  for (const value of [{}, 'text', 7, null, undefined, Symbol('s'), () => {}]) {
    const promise = addon.delay(1, value)
    global.gc()
    assert.strictEqual(await promise, value)
  }
  let collected = false
  const registry = new FinalizationRegistry(() => { collected = true })
  await (async () => {
    const value = {}
    registry.register(value)
    assert.equal(await addon.delay(1, value), value)
  })()
  await collectUntil(() => collected)
}

async function promises(addon) {
  assert.equal(await addon.twice(addon.delay(1, 21)), 42)
  // Collected while it is pending.
  let error
  addon.twice(new Promise(() => {})).catch((rejected) => { error = rejected })
  await collectUntil(() => error)
  assert.match(error.message, /was dropped without being completed/)
}

async function tickers(addon) {
  const counts = []
  const ticker = addon.ticker(1, function (count) {
    counts.push(count)
    if (count === 3) this.stop()
  })
  assert.equal(await ticker.done, 3)
  assert.deepEqual(counts, [1, 2, 3])

  const error = new Error('in a callback')
  // In a function, after which nothing refers to the ticker.
  const done = (...given) => addon.ticker(...given).done
  await assert.rejects(done(1, () => { throw error }), (rejected) => rejected === error)
  // The object that is thrown refers to the ticker.
  await assert.rejects(done(1, function () { throw this }), (rejected) => 'stop' in rejected)
  await assert.rejects(done(-1, () => {}), /not positive/)
  assert.throws(() => addon.ticker('1', () => {}), /A number was expected/)
  assert.throws(() => ticker.stop.call({}), /Invalid argument/)

  // Forgotten, with a function that refers to it: its promise does not stay pending.
  let count
  const forget = () => {
    const forgotten = addon.ticker(1, () => forgotten)
    return forgotten.done
  }
  forget().then((ticks) => { count = ticks })
  await collectUntil(() => count !== undefined)
  await collectUntil(() => addon.countTickers() <= 1)
  assert(ticker.stop)
}

async function filesAndPrograms(addon) {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'swift-'))
  const file = path.join(directory, 'file')
  fs.writeFileSync(file, 'one')
  assert.equal(await addon.readFile(directory, 'file'), 'one')
  await assert.rejects(addon.readFile(directory, '../file'), /the path leads out of the directory/)
  let seen
  const change = new Promise((resolve) => { seen = resolve })
  await addon.watchFile(file, seen)
  fs.writeFileSync(file, 'two')
  assert.equal(await change, 'modified file')
  addon.close()
  fs.rmSync(directory, { recursive: true })

  assert.equal(await addon.run('/bin/echo', 'from a child'), 'from a child\n')
  await assert.rejects(addon.run('/bin/false', ''), /code 1/)
  await assert.rejects(addon.run('/no/such/program', ''), /ENOENT/)
}

async function work(addon) {
  await futures(addon)
  await errors(addon)
  await values(addon)
  await promises(addon)
  await tickers(addon)
  await filesAndPrograms(addon)
}

module.exports = { work, echo }
