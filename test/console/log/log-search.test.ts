import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  bucketEdges,
  defaultStartUtc,
  groupFilter,
  searchOfBucket,
  searchOfChart,
} from '../../../web/charts/log-search.ts'

const hours = ['2026-11-21T22:00:00.000Z', '2026-11-21T23:00:00.000Z']

test('A bar of a chart opens the calls of its hour or day, with the filters of the chart', () => {
  const filters = { action: 'svc.detect', by: 'code', bucket: 'hour', keyId: undefined }
  assert.deepEqual(searchOfBucket(hours, 1, filters), {
    action: 'svc.detect',
    fromUtc: '2026-11-21T23:00:00Z',
    toUtc: '2026-11-22T00:00:00Z',
  })
  const days = ['2026-11-20T00:00:00.000Z', '2026-11-21T00:00:00.000Z']
  assert.equal(searchOfBucket(days, 1).toUtc, '2026-11-22T00:00:00Z')
  assert.equal(searchOfBucket(days.slice(0, 1), 0).toUtc, '2026-11-21T00:00:00Z')
  assert.deepEqual(bucketEdges([]), [])
})

test('The period of a bar is limited to the period of the chart', () => {
  const filters = { fromUtc: '2026-11-21T22:30:00Z', toUtc: '2026-11-21T23:10:00Z' }
  assert.deepEqual(searchOfBucket(hours, 0, filters), {
    fromUtc: '2026-11-21T22:30:00Z',
    toUtc: '2026-11-21T23:00:00Z',
  })
  assert.deepEqual(searchOfChart(hours, filters), filters)
  assert.deepEqual(searchOfChart([], {}), {})
})

test('A group of a chart is the filter of the log with the same meaning', () => {
  assert.deepEqual(groupFilter('project', 'p'), { projectId: 'p' })
  assert.deepEqual(groupFilter('key', 'k'), { keyId: 'k' })
  assert.deepEqual(groupFilter('code', 'OK'), { code: 'OK' })
  assert.deepEqual(groupFilter('action', 'svc.detect'), { action: 'svc.detect' })
  assert.equal(defaultStartUtc(Date.parse('2026-11-22T13:45:00Z')), '2026-11-21T14:00:00Z')
})
