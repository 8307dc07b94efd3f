// Holds the table of the guide for Node to its word: when callbacks of Swift run among Node's own, and for how long.
// usage: node order.js FILE GUIDE
const assert = require('node:assert')
const fs = require('node:fs')
const path = require('node:path')
const addon = require(path.resolve(process.argv[2]))

// What each row begins with, and how it is brought about: `start` begins the work of a row.
const rows = {
  'the main script': (start) => start(),
  'a timer': (start) => setTimeout(start, 1),
  '`setImmediate`': (start) => setImmediate(start),
  'I/O': (start) => fs.stat(__filename, start),
  'a Swift callback': (start) => addon.callLater(start),
  'a Swift callback without a callback scope': (start) => addon.callLater(start, true),
}

function order(begin) {
  return new Promise((resolve) => {
    const seen = []
    begin(() => {
      setImmediate(() => {
        seen.push('`setImmediate`')
        setImmediate(() => setImmediate(() => resolve(seen)))
      })
      addon.callLater(() => seen.push('Swift'))
      Promise.resolve().then(() => seen.push('microtasks'))
      process.nextTick(() => seen.push('`nextTick`'))
      seen.push('synchronous code')
    })
  })
}

function table(guide) {
  const cells = fs.readFileSync(guide, 'utf8').split('\n').filter((line) => line.startsWith('|'))
    .map((line) => line.split('|').slice(1, -1).map((cell) => cell.trim()))
  return Object.fromEntries(cells.filter(([start]) => start in rows).map(([start, then]) => [start, then.split(', ')]))
}

async function budget() {
  addon.setTurnBudget(64)
  addon.startChain()
  for (let round = 0; round < 100; round++) {
    await new Promise(setImmediate)
    const before = addon.countSteps()
    await new Promise(setImmediate)
    const steps = addon.countSteps() - before
    assert(steps > 0 && steps <= 64, `a chain of Swift callbacks held Node for ${steps} of them`)
  }
}

async function main(scriptOrder) {
  const expected = table(process.argv[3])
  assert.deepEqual(Object.keys(expected).sort(), Object.keys(rows).sort(), 'the table has other rows')
  assert.deepEqual(await scriptOrder, expected['the main script'])
  for (const [start, begin] of Object.entries(rows).slice(1)) {
    for (let i = 0; i < 50; i++) assert.deepEqual(await order(begin), expected[start], start)
  }
  await budget()
  console.log('Node, order: passed')
  // The chain has no end.
  process.exit(0)
}

main(order(rows['the main script'])).catch((error) => { console.error(error); process.exit(1) })
