import assert from 'node:assert/strict'
import { test } from 'node:test'
import { axisLabels, axisTicks } from '../../web/charts/columns/axis.ts'
import { valleyBetweenPeaks } from '../../web/charts/score-peaks.ts'
import { formatPercentage } from '../../web/format/numbers.ts'
import { budgetUse, byUsedShare } from '../../web/money/budget-use.ts'

test('Only all calls are 100 %, and only none are 0 %', () => {
  const texts = [0, 0.0004, 1 / 3, 0.583, 0.9994, 0.9996, 1, 1.0001, 1.25].map(formatPercentage)
  const expected = ['0 %', '< 0.1 %', '33.3 %', '58.3 %', '99.9 %', '> 99.9 %', '100 %', '> 100 %']
  assert.deepEqual(texts, [...expected, '125 %'])
  assert.equal(formatPercentage(null), '–')
})

test('The used share of a budget counts everything that is no longer available', () => {
  const share = (allocatedMicros: string, balanceMicros: string) =>
    budgetUse({ allocatedMicros, balanceMicros }).share
  assert.equal(share('1000000', '250000'), 0.75)
  assert.equal(share('1000000', '1000000'), 0)
  assert.equal(share('1000000', '-500000'), 1.5, 'more was spent than allocated')
  assert.equal(share('0', '0'), null, 'without allocated funds there is no share')
  assert.equal(share('0', '-1'), 1)
})

test('Budgets are in the order of their used share, those without billing last', () => {
  const budget = (name: string, balanceMicros: string, billing = true) => ({
    name,
    balanceMicros,
    billing,
    allocatedMicros: '100',
  })
  const budgets = [budget('free', '0', false), budget('half', '50'), budget('spent', '0')]
  const names = byUsedShare(budgets).map(({ name }) => name)
  assert.deepEqual(names, ['spent', 'half', 'free'])
})

test('The values of an axis are round, and the last one is at least the largest value', () => {
  assert.deepEqual(axisTicks(0, true), [0, 1])
  assert.deepEqual(axisTicks(1, true), [0, 1])
  assert.deepEqual(axisTicks(3, true), [0, 1, 2, 3])
  assert.deepEqual(axisTicks(73, true), [0, 20, 40, 60, 80])
  assert.deepEqual(axisTicks(0.0061, false), [0, 0.002, 0.004, 0.006, 0.008])
  assert.deepEqual(axisTicks(100, true), [0, 20, 40, 60, 80, 100])
})

test('The labels of an axis neither overlap nor leave it, at any width', () => {
  const texts = Array.from({ length: 24 }, (_, hour) => `11-21 ${String(hour).padStart(2, '0')}:00`)
  for (let widthPx = 80; widthPx < 1300; widthPx += 7) {
    const labels = axisLabels(texts, widthPx)
    assert.ok(labels.length > 0, `${widthPx} px`)
    for (const [index, label] of labels.entries()) {
      const before = labels[index - 1]
      assert.ok(label.leftPx >= (before ? before.leftPx + before.widthPx : 0), `${widthPx} px`)
      assert.ok(label.leftPx + label.widthPx <= widthPx + 1e-9, `${widthPx} px`)
    }
    const distances = labels.slice(1).map(({ index }, place) => index - (labels[place]?.index ?? 0))
    assert.ok(new Set(distances).size <= 1, `${widthPx} px: ${distances.join()}`)
  }
})

test('The labels of a histogram are round', () => {
  const texts = Array.from({ length: 50 }, (_, bin) => (bin / 50).toFixed(2))
  for (let widthPx = 100; widthPx < 450; widthPx += 7)
    for (const { text } of axisLabels(texts, widthPx)) assert.match(text, /^0\.\d0$/u, `${widthPx}`)
})

test('A threshold is advised between two peaks of scores, and none if there is one peak', () => {
  const bins = (peaks: Readonly<Record<number, number>>) =>
    Array.from({ length: 50 }, (_, bin) =>
      Math.round(
        Object.entries(peaks).reduce(
          (sum, [at, height]) => sum + height * Math.exp(-((bin - Number(at)) ** 2) / 8),
          0,
        ),
      ),
    )
  assert.equal(valleyBetweenPeaks(bins({ 45: 182 })), undefined)
  assert.equal(valleyBetweenPeaks(bins({ 45: 182, 44: 30 })), undefined, 'a wide peak is one peak')
  assert.equal(valleyBetweenPeaks(bins({ 45: 182, 20: 3 })), undefined, 'single calls are no peak')
  assert.equal(valleyBetweenPeaks(Array.from({ length: 50 }, () => 0)), undefined)
  for (const peaks of [
    { 10: 100, 40: 100 },
    { 10: 20, 40: 180 },
    { 10: 180, 40: 20 },
  ]) {
    const valley = valleyBetweenPeaks(bins(peaks))
    assert.ok(valley !== undefined && valley > 14 && valley < 36, String(valley))
  }
})
