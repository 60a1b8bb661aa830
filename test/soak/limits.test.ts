import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judgeDrift, judgeFlat, judgeMemory, measuredPeriod } from '../../soak/limits.ts'
import { latencyDrift } from '../../soak/measure/latencies.ts'
import { memorySlope } from '../../soak/measure/slope.ts'
import { seededRandom } from '../../src/lib/random/seeded-random.ts'

const mebibyte = 1024 * 1024
const hourMs = 3_600_000

/** Memory of a garbage-collected process: a sawtooth of 40 MiB on a line, every 10 s. */
function createSamples(hours: number, mibPerHour: number) {
  const random = seededRandom(1)
  return Array.from({ length: hours * 360 }, (_, index) => ({
    atMs: index * 10_000,
    rssBytes: (300 + (index / 360) * mibPerHour + random() * 40) * mebibyte,
    fds: 50,
    threads: 13,
  }))
}

test('The slope of the memory is that of the line below the sawtooth', () => {
  assert.ok(Math.abs((memorySlope(createSamples(7, 0))?.mibPerHour ?? 99) - 0) < 0.3)
  assert.ok(Math.abs((memorySlope(createSamples(7, 5))?.mibPerHour ?? 99) - 5) < 0.3)
  assert.equal(memorySlope(createSamples(7, 5).slice(0, 17)), undefined)
})

test('A leak of 2 MiB/h fails a run of eight hours, and 0.5 MiB/h does not', () => {
  assert.equal(judgeMemory(createSamples(7, 2))?.ok, false)
  assert.equal(judgeMemory(createSamples(7, 0.5))?.ok, true)
})

test('In a short period 32 MiB of growth are allowed, and the limit states it', () => {
  const short = judgeMemory(createSamples(0.5, 50))
  assert.equal(short?.ok, true)
  assert.match(short.limit, /short period/u)
  assert.equal(judgeMemory(createSamples(0.5, 80))?.ok, false)
  assert.equal(judgeMemory(createSamples(0.03, 0)), undefined)
})

test('The first hour is warm-up, or half of a shorter run', () => {
  assert.deepEqual(measuredPeriod(0, 8 * hourMs), [hourMs, 8 * hourMs])
  assert.deepEqual(measuredPeriod(0, hourMs), [hourMs / 2, hourMs])
})

test('The drift of p99 is judged relative to the drift of the machine', () => {
  const drift = (factor: number) =>
    latencyDrift(
      Array.from({ length: 900 }, (_, index) => ({
        atMs: index,
        durationMs: index >= 600 ? 10 * factor : 10,
      })),
      [0, 900],
    )
  assert.equal(drift(2).count, 900)
  assert.equal(judgeDrift(drift(1.05), drift(1), 2 * hourMs).ok, true)
  assert.equal(judgeDrift(drift(1.15), drift(1), 2 * hourMs).ok, false)
  assert.equal(judgeDrift(drift(1.15), drift(1.1), 2 * hourMs).ok, true)
  assert.equal(judgeDrift(drift(1.9), drift(1), hourMs / 2).ok, true)
  assert.equal(judgeDrift(drift(2.2), drift(1), hourMs / 2).ok, false)
})

test('Descriptors that grow by more than four are not flat', () => {
  assert.equal(judgeFlat([50, 50, 51, 52, 54, 54]).ok, true)
  assert.equal(judgeFlat([50, 50, 51, 52, 55, 55]).ok, false)
})
