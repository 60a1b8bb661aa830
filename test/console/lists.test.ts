import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { imageParams } from '../support/gallery/test-gallery.ts'
import { assertOk, startConsole, type TestConsole } from '../support/console/test-console.ts'

const unknownProject = '00000000-0000-4000-8000-000000000000'

let testConsole: TestConsole
let firstProject: string
let secondProject: string

before(async () => {
  testConsole = await startConsole()
  firstProject = testConsole.projectId
  const { body } = await write('POST', '/projects', { name: 'second', galleryMode: 'isolated' })
  secondProject = body.projectId
  await write('PATCH', `/projects/${secondProject}`, { switches: { billing: false } })
  for (const projectId of [firstProject, secondProject]) {
    for (const name of ['a', 'b', 'c'])
      await write('POST', '/keys', { projectId, name, permissions: ['svc.detect'] })
    for (const person of ['Ada', 'Bob', 'Cy']) {
      const call = { action: 'svc.enroll', params: { ...imageParams(person), groups: [person] } }
      const { envelope } = (await write('POST', '/playground', { projectId, call })).body
      const { subjectId } = envelope.data.results[0].value
      if (person === 'Cy')
        await write('DELETE', `/projects/${projectId}/subjects/${subjectId}`, {
          confirm: subjectId.slice(0, 8),
        })
    }
    await write('POST', '/playground', { projectId, call: { action: 'svc.detect', params: {} } })
  }
})
after(() => testConsole[Symbol.asyncDispose]())

const write = async (method: string, path: string, body: unknown) =>
  assertOk(await testConsole.owner.send(method, path, body))
const get = async (path: string) => assertOk(await testConsole.owner.get(path)).body

type ListedRow = Readonly<Record<string, unknown>>

/** Reads all pages forwards and the same pages backwards. */
async function readBothWays(
  path: string,
  query: string,
): Promise<readonly (readonly ListedRow[])[]> {
  const pages: ListedRow[][] = []
  let page = await get(`${path}?${query}`)
  assert.equal(page.previousCursor, null, 'the first page has no previous one')
  for (;;) {
    pages.push(page.items)
    if (page.nextCursor === null) break
    page = await get(`${path}?${query}&cursor=${page.nextCursor}`)
  }
  for (const expected of pages.slice(0, -1).toReversed()) {
    assert.notEqual(page.previousCursor, null)
    page = await get(`${path}?${query}&cursor=${page.previousCursor}`)
    assert.deepEqual(page.items, expected)
    assert.notEqual(page.nextCursor, null)
  }
  assert.equal(page.previousCursor, null)
  return pages
}

/** Every list of the console, its sort orders and the value of each order. */
function sortedLists(): readonly (readonly [string, Readonly<Record<string, string>>])[] {
  const project = `/projects/${firstProject}`
  return [
    ['/log', { time: 'atUtc', latency: 'latencyMs' }],
    ['/keys', { created: 'createdAtUtc', name: 'name', expires: 'expiresAtUtc', used: '' }],
    ['/audit', { time: 'atUtc' }],
    ['/money/ledger', { time: 'atUtc' }],
    ['/deletions', { deleted: 'deletedAtUtc' }],
    [
      `${project}/subjects`,
      { created: 'createdAtUtc', updated: 'updatedAtUtc', seen: 'lastSeenAtUtc', name: '' },
    ],
    [`${project}/groups`, { name: 'name' }],
  ]
}

test('Every list is sorted in both directions, and its pages open forwards and backwards', async () => {
  for (const [path, columns] of sortedLists()) {
    const all: ListedRow[] = (await get(`${path}?limit=200`)).items
    assert.ok(all.length > 1, path)
    for (const [sort, field] of Object.entries(columns))
      for (const sign of ['', '-']) {
        const limit = path === '/audit' ? 9 : 2
        const pages = await readBothWays(path, `limit=${limit}&sort=${sign}${sort}`)
        const rows = pages.flat()
        const asText = (row: ListedRow) => JSON.stringify(row)
        assert.deepEqual(rows.map(asText).toSorted(), all.map(asText).toSorted(), `${path} ${sort}`)
        if (field === '') continue
        const values = rows.map((row) => row[field] as string | number)
        const inOrder = values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))
        assert.deepEqual(values, sign === '-' ? inOrder.toReversed() : inOrder, `${path} ${sort}`)
      }
  }
})

test('A cursor of another order is refused, and so is an unknown order', async () => {
  const { nextCursor } = await get('/log?limit=2')
  const other = await testConsole.owner.get(`/log?limit=2&sort=time&cursor=${nextCursor}`)
  assert.equal(other.status, 422)
  assert.match(other.text, /same `sort`/u)
  assert.equal((await testConsole.owner.get('/log?sort=code')).status, 422)
})

test('A list counts its rows on request only', async () => {
  assert.equal('total' in (await get('/log')), false)
  for (const [path] of sortedLists()) {
    const { items } = await get(`${path}?limit=200`)
    const { total, totalIsCapped } = await get(`${path}?limit=1&total=true`)
    // Groups have no count: it would read the groups of all subjects.
    assert.equal(total, path.endsWith('/groups') ? undefined : items.length, path)
    assert.equal(totalIsCapped, undefined)
  }
  assert.equal((await get('/log?total=true&action=svc.detect')).total, 2)
})

test('A period ends now; it is refused together with a time', async () => {
  const { total } = await get('/log?total=true')
  assert.equal((await get('/log?total=true&period=1h')).total, total)
  for (const path of ['/audit', '/money/ledger', '/deletions', '/analytics/calls'])
    assert.equal(
      (await testConsole.owner.get(`${path}?period=24h${path.endsWith('calls') ? '&by=key' : ''}`))
        .status,
      200,
    )
  const both = await testConsole.owner.get('/log?period=1h&fromUtc=2026-01-01T00:00:00Z')
  assert.equal(both.status, 422)
  assert.match(both.text, /query\.period/u)
  assert.equal((await testConsole.owner.get('/log?period=2h')).status, 422)
  const csv = await testConsole.owner.get('/log.csv?period=1h&sort=time')
  assert.equal(csv.headers.get('cache-control'), 'no-store')
  assert.equal(csv.text.trim().split('\r\n').length, total + 1)
})

test('Without a project a list has the rows of all projects, and with one only its rows', async () => {
  const project = `projectId=${secondProject}`
  for (const path of ['/log', '/keys', '/webhooks']) {
    const projectsOf = async (query: string) =>
      new Set(((await get(`${path}?${query}`)).items as ListedRow[]).map((row) => row['projectId']))
    if (path !== '/webhooks')
      assert.deepEqual(await projectsOf(''), new Set([secondProject, firstProject]))
    assert.ok([...(await projectsOf(project))].every((id) => id === secondProject))
    assert.deepEqual(await projectsOf(`projectId=${unknownProject}`), new Set())
  }
  const names = ({ items }: { readonly items: ListedRow[] }) =>
    items.flatMap((row) => row['projects'])
  assert.deepEqual(names(await get('/deletions')), ['second', 'default'])
  assert.deepEqual(names(await get(`/deletions?${project}`)), ['second'])
  const unknown = await testConsole.owner.get(`/deletions?projectId=${unknownProject}`)
  assert.equal(unknown.status, 404)
})

test('The project of the overview selects the calls, budgets, galleries and alerts', async () => {
  const all = await get('/overview')
  assert.deepEqual(
    all.budgets.map(({ name }: ListedRow) => name),
    ['default', 'second'],
  )
  const second = await get(`/overview?projectId=${secondProject}`)
  assert.equal(second.calls, 4)
  assert.equal(all.calls, 8)
  assert.deepEqual([second.errorCodes, second.topErrors.length], [1, 1])
  assert.deepEqual(
    [second.budgets, second.galleries].map((rows: ListedRow[]) => rows.map(({ name }) => name)),
    [['second'], ['second']],
  )
  await write('PATCH', `/projects/${firstProject}`, { switches: { billing: true } })
  await write('PATCH', `/projects/${secondProject}`, { switches: { billing: true } })
  const soon = new Date(Date.now() + 86_400_000).toISOString()
  const key = { projectId: firstProject, name: 'soon', permissions: ['svc.detect'] }
  await write('POST', '/keys', { ...key, expiresAtUtc: soon })
  const alertsOf = async (query: string) =>
    ((await get(`/overview${query}`)).alerts as ListedRow[])
      .filter(({ kind }) => kind !== 'diskLow')
      .map(({ kind, projectId }) => [kind, projectId])
  assert.deepEqual(await alertsOf(`?projectId=${secondProject}`), [['budgetEmpty', secondProject]])
  assert.deepEqual(await alertsOf(`?projectId=${firstProject}`), [['keyExpiring', firstProject]])
  assert.equal((await alertsOf('')).length, 2)
  const alerts: readonly { text: string }[] = (await get('/overview')).alerts
  assert.ok(alerts.some(({ text }) => / soon of .* expires in 1 day\.$/u.test(text)))
  const unknown = await testConsole.owner.get(`/overview?projectId=${unknownProject}`)
  assert.equal(unknown.status, 404)
})

test('The reconciliation of a project compares only its calls', async () => {
  const all = await get('/money/reconcile')
  const second = await get(`/money/reconcile?projectId=${secondProject}`)
  assert.ok(all.billedCalls > 0)
  assert.deepEqual([second.billedCalls, second.ok], [0, true])
})

test('A period has the same total by hours and by days, and a project the same colour', async () => {
  const totalOf = ({ series }: { series: { total: number }[] }) =>
    series.reduce((sum, { total }) => sum + total, 0)
  for (const period of ['1h', '24h', '7d', '30d']) {
    const hours = await get(`/analytics/calls?by=project&period=${period}&bucket=hour`)
    const days = await get(`/analytics/calls?by=project&period=${period}&bucket=day`)
    assert.equal(totalOf(days), totalOf(hours), period)
    const spanHours = (Date.parse(hours.toUtc) - Date.parse(hours.fromUtc)) / 3_600_000
    assert.equal(hours.buckets.length, spanHours, period)
    assert.equal(spanHours, { '1h': 1, '24h': 24, '7d': 168, '30d': 720 }[period], period)
    assert.deepEqual([days.fromUtc, days.toUtc], [hours.fromUtc, hours.toUtc], period)
  }
  const [calls, spend] = await Promise.all(
    ['calls', 'spend'].map((chart) => get(`/analytics/${chart}?by=project`)),
  )
  const orders = new Map(calls.series.map(({ id, order }: ListedRow) => [id, order]))
  assert.equal(new Set(orders.values()).size, 2)
  for (const { id, order } of spend.series) assert.equal(order, orders.get(id))
})
