import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { before, test } from 'node:test'
import { parse } from 'yaml'
import { readConfig } from '../../src/config.ts'
import { serviceMetrics, type MetricSources } from '../../src/start/service-metrics.ts'
import { imageItem, samplePhotograph, startFacegate } from '../support/facegate/test-facegate.ts'
import { rootDir } from '../support/paths.ts'

const deployFolder = path.join(rootDir, 'deploy')

type Panel = {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly gridPos: GridPosition
  readonly targets?: readonly { readonly expr: string }[]
}
type GridPosition = {
  readonly x: number
  readonly y: number
  readonly w: number
  readonly h: number
}
type AlertRule = {
  readonly alert: string
  readonly expr: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

/** Exported metrics: name → label → values. */
let exportedMetrics: ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>
before(async () => {
  await using facegate = await startFacegate({ VISION_WORKERS: '1' })
  const images = [imageItem(await samplePhotograph(3))]
  await facegate.post({ action: 'svc.identify', params: { images, facePolicy: 'largest' } })
  await facegate.post({ action: 'svc.identify', params: {} }, { 'x-api-key': 'unknown' })
  await fetch(`${facegate.url}/healthz`)
  exportedMetrics = samplesOf(await (await fetch(`${facegate.url}/metrics`)).text())
})

let panels: readonly Panel[]
let rules: readonly AlertRule[]
before(async () => {
  const dashboard = await readFile(path.join(deployFolder, 'grafana/facegate.json'), 'utf8')
  panels = JSON.parse(dashboard).panels
  const alerts = parse(await readFile(path.join(deployFolder, 'prometheus/alerts.yaml'), 'utf8'))
  rules = alerts.groups.flatMap((group: { readonly rules: readonly AlertRule[] }) => group.rules)
})

function samplesOf(text: string) {
  const families = new Map<string, Map<string, Set<string>>>()
  for (const [, name = ''] of text.matchAll(/^# TYPE (\S+)/gmu)) families.set(name, new Map())
  for (const [, name = '', labels = ''] of text.matchAll(/^(\w+)\{(.*)\} /gmu)) {
    const family = families.get(name) ?? new Map<string, Set<string>>()
    families.set(name, family)
    for (const [, label = '', value = ''] of labels.matchAll(/(\w+)="([^"]*)"/gu))
      family.set(label, (family.get(label) ?? new Set<string>()).add(value))
  }
  return families
}

/** Some metrics have no value in this test, such as the connections to PostgreSQL. */
const emptySources = { config: readConfig({}), store: {}, gallerySearch: {} } as MetricSources
const declaredLabels = serviceMetrics(emptySources).flatMap(({ labels }) => labels)

/** Returns names in a query that the service does not export. Prometheus adds `instance` and `job`. */
function unknownNames(expr: string): string[] {
  const added = new Set(['instance', 'job'])
  const unknown: string[] = []
  const selectors = expr.matchAll(/\b((?:facegate|process|nodejs)_\w+)(?:\{([^}]*)\})?/gu)
  for (const [, name = '', matchers = ''] of selectors) {
    const labels = exportedMetrics.get(name)
    if (!labels) unknown.push(name)
    for (const [, label = '', value = ''] of matchers.matchAll(/(\w+)=~?"([^"]*)"/gu)) {
      if (added.has(label)) continue
      const values = [...(labels?.get(label) ?? [])]
      // No call of this test returns a server error.
      if (
        label !== 'status' &&
        !values.some((known) => new RegExp(`^(?:${value})$`, 'u').test(known))
      )
        unknown.push(`${name}{${label}="${value}"}`)
    }
  }
  const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/gu)].flatMap(([, list = '']) =>
    list.split(/,\s*/u),
  )
  const exported = [...exportedMetrics.values()].flatMap((labels) => [...labels.keys()])
  const all = new Set([...added, ...exported, ...declaredLabels])
  return [...unknown, ...grouped.filter((label) => !all.has(label))]
}

test('The dashboard queries only metrics that the service exports', () => {
  const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
  assert.ok(queries.length > 30)
  assert.deepEqual(queries.flatMap(unknownNames), [])
  for (const name of exportedMetrics.keys())
    if (name.startsWith('facegate_') && !/_(?:sum|count|bucket)$/u.test(name))
      assert.ok(
        queries.some((query) => query.includes(name)),
        `no panel shows ${name}`,
      )
})

test('A server that is not scraped is an alert, even if others are', async () => {
  const page = await readFile(path.join(rootDir, 'docs/operations/observability.md'), 'utf8')
  const [, job = ''] = /job_name: (\S+)/u.exec(page) ?? []
  const down = rules.find(({ alert }) => alert === 'FacegateDown')
  assert.ok(down !== undefined && down.expr.includes(`up{job="${job}"} == 0`))
  assert.ok(down.expr.includes('absent('), 'no server was ever scraped')
})

test('An unknown metric, label or value in a query is reported', () => {
  assert.deepEqual(unknownNames('rate(facegate_nothing_total[5m])'), ['facegate_nothing_total'])
  assert.deepEqual(unknownNames('sum by (colour) (facegate_ready)'), ['colour'])
  assert.deepEqual(unknownNames('facegate_calls_total{code="NONE"}'), [
    'facegate_calls_total{code="NONE"}',
  ])
})

test('The panels do not overlap, and each has a unique id, queries and the instance variable', async () => {
  const dashboard = JSON.parse(
    await readFile(path.join(deployFolder, 'grafana/facegate.json'), 'utf8'),
  )
  assert.ok(dashboard.schemaVersion >= 39)
  const variables = dashboard.templating.list.map(({ name }: { name: string }) => name)
  assert.deepEqual(variables, ['datasource', 'job', 'instance'])
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length)
  for (const panel of panels) {
    const { targets = [], gridPos, title } = panel
    assert.equal(panel.type === 'row', targets.length === 0, title)
    for (const { expr } of targets) assert.match(expr, /instance=~"\$instance"/u)
    assert.ok(gridPos.x + gridPos.w <= 24, title)
    const others = panels.filter(
      (other) => other !== panel && isOverlapping(other.gridPos, gridPos),
    )
    assert.deepEqual(others, [], title)
  }
})

function isOverlapping(a: GridPosition, b: GridPosition): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h
}

test('The alerts query only exported metrics and have a summary and a description', () => {
  assert.deepEqual(
    rules.flatMap(({ expr }) => unknownNames(expr)),
    [],
  )
  for (const { alert, labels, annotations } of rules) {
    assert.match(labels['severity'] ?? '', /^(?:critical|warning|info)$/u, alert)
    assert.ok(annotations['summary'] && annotations['description'], alert)
  }
  const names = new Set(rules.map(({ alert }) => alert.replace('Facegate', '')))
  for (const name of ['NotReady', 'HighErrorRate', 'QueueFull', 'DiskLow', 'DatabaseDown'])
    assert.ok(names.has(name), name)
})
