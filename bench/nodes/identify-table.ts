import path from 'node:path'
import { startGallery, imageParams } from '../../test/support/gallery/test-gallery.ts'
import {
  killGalleryProcess,
  startGalleryProcess,
} from '../../test/support/gallery/gallery-process.ts'
import { embeddingOf } from '../../test/support/gallery/fake-vision.ts'
import { openClient } from '../support/http-client.ts'
import { measure, formatMs, type LoadResult, type LoadClient } from '../support/load.ts'
import { showProgress, markdownTable } from '../support/table.ts'
import type { ClusterBench } from './cluster-bench.ts'

const clientCount = 8
const nodeCounts = [1, 2, 3]
/** Faces per transaction. */
const batchFaces = 100
/** Deviation of the probe from the enrolled face, as of another photograph of the same person. */
const probeNoise = 1

type IdentifyDeployment = {
  readonly name: string
  readonly search: 'memory' | 'pgvector'
  readonly nodes: number
  /** Empty for SQLite in the folder. */
  readonly url: string
  readonly folder: string
}

type IdentifyLoad = LoadResult & { readonly recall: number }

/**
 * Measures svc.identify in a gallery of templates in random directions, one per person. Such templates
 * have no neighbourhoods, which is the hardest case for an index. Returns a Markdown table.
 */
export async function identifyTable(bench: ClusterBench, templates: number): Promise<string> {
  await using database = await bench.cluster.createDatabase()
  const onPostgres = {
    name: 'PostgreSQL',
    url: database.url,
    folder: path.join(bench.folder, 'pg'),
  }
  const sqlite = { name: 'SQLite', url: '', folder: path.join(bench.folder, 'sqlite') }
  const rows: string[][] = []
  for (const engine of [sqlite, onPostgres]) {
    const key = await fillGallery({ ...engine, search: 'memory', nodes: 1 }, templates)
    const searches = engine === sqlite ? (['memory'] as const) : (['memory', 'pgvector'] as const)
    for (const search of searches)
      for (const nodes of engine === sqlite ? [1] : nodeCounts) {
        showProgress(`${engine.name}, ${search}, ${nodes} servers`)
        const deployment = { ...engine, search, nodes }
        rows.push(rowOf(deployment, await measureIdentify(deployment, { key, templates, bench })))
      }
  }
  return markdownTable(head, rows)
}

const head = ['database', 'servers', 'search', 'identifications/s', 'p50 ms', 'p99 ms', 'recall@1']

/** Enrolls the people. Returns the key of the project. */
async function fillGallery(deployment: IdentifyDeployment, templates: number): Promise<string> {
  const environment = { ...environmentOf(deployment), LOG_LEVEL: 'warn' }
  await using service = await startGallery({ dataDir: deployment.folder, environment })
  const { store } = service.database
  const { subjects } = service.openedGallery
  const owner = await store.findKey(service.key, new Date())
  if (!owner) throw new Error('the first start created no key')
  for (let done = 0; done < templates; done += batchFaces) {
    await store.write(async (tx) => {
      for (let person = done; person < Math.min(done + batchFaces, templates); person++) {
        const subject = await subjects.create(tx, owner, { externalId: nameOf(person) })
        const template = {
          modelId: 'people@1',
          vector: embeddingOf({ name: nameOf(person) }),
          density: 0,
        }
        await subjects.addFace(tx, subject, { template, qualityScore: 90 })
      }
    })
    if (done % 5000 === 0) showProgress(`${deployment.name}: ${done} of ${templates} people`)
  }
  return service.key
}

function nameOf(person: number): string {
  return `person ${person}`
}

function environmentOf({ url, search, folder }: IdentifyDeployment): Record<string, string> {
  return {
    DATABASE_URL: url,
    ...(search === 'pgvector' && { SEARCH: search }),
    MASTER_KEY_FILE: `${folder}.key`,
    STARTER_CREDIT_MICROS: '1000000000000',
    GALLERY_TEMPLATES_MAX: '15000000',
  }
}

type IdentifyInput = {
  readonly key: string
  readonly templates: number
  readonly bench: ClusterBench
}

async function measureIdentify(
  deployment: IdentifyDeployment,
  { key, templates, bench }: IdentifyInput,
): Promise<IdentifyLoad> {
  await using opened = new AsyncDisposableStack()
  const environment = environmentOf(deployment)
  const starting = Array.from({ length: deployment.nodes }, async (_, node) => {
    const folder = node === 0 ? deployment.folder : `${deployment.folder}-${node}`
    const server = await startGalleryProcess(folder, key, { environment })
    opened.defer(() => killGalleryProcess(server))
    return server.client.url
  })
  const urls = await Promise.all(starting)
  const results = { correct: 0, total: 0 }
  const open = async (index: number): Promise<LoadClient> => {
    const client = await openClient(urls[index % urls.length] ?? '', key)
    const once = async (): Promise<void> => {
      const person = Math.floor(Math.random() * templates)
      const params = {
        ...imageParams({ name: nameOf(person), deviation: probeNoise, take: 1 }),
        maxCandidates: 1,
      }
      const response = await client.post(JSON.stringify({ action: 'svc.identify', params }))
      if (!response.startsWith('{"ok":true')) throw new Error(response)
      results.total++
      if (response.includes(`"externalId":"${nameOf(person)}"`)) results.correct++
    }
    return { once, close: () => client[Symbol.dispose]() }
  }
  const load = await measure(clientCount, bench.measureMs, open)
  return { ...load, recall: results.correct / results.total }
}

function rowOf({ name, nodes, search }: IdentifyDeployment, load: IdentifyLoad): string[] {
  const { perS, p50Ms, p99Ms, recall } = load
  return [
    name,
    String(nodes),
    search,
    perS.toFixed(1),
    formatMs(p50Ms),
    formatMs(p99Ms),
    recall.toFixed(4),
  ]
}
