import path from 'node:path'
import { startGallery, images } from '../../test/gallery.ts'
import { kill, startProcess } from '../../test/gallery-process.ts'
import { vectorOf } from '../../test/people.ts'
import { openClient } from '../http-client.ts'
import { measure, ms, type Load, type Worker } from '../load.ts'
import { progress, table } from '../table.ts'
import type { Bench } from './bench.ts'

const clients = 8
const nodeCounts = [1, 2, 3]
/** Faces written in one transaction. */
const facesAtATime = 100
/** As far from the plain look as another photograph of the same person. */
const wobble = 1

type Place = {
  readonly name: string
  readonly search: 'memory' | 'pgvector'
  readonly nodes: number
  /** Empty: SQLite in the folder. */
  readonly url: string
  readonly folder: string
}

type Searches = Load & { readonly recall: number }

/**
 * svc.identify in a gallery of so many templates, each of another person in a random direction: an
 * index finds no neighbourhoods in them, which is its hardest case.
 *
 * @returns a Markdown table.
 */
export async function identifyTable(bench: Bench, templates: number): Promise<string> {
  await using database = await bench.cluster.freshDatabase()
  const onPostgres = {
    name: 'PostgreSQL',
    url: database.url,
    folder: path.join(bench.folder, 'pg'),
  }
  const sqlite = { name: 'SQLite', url: '', folder: path.join(bench.folder, 'sqlite') }
  const rows: string[][] = []
  for (const engine of [sqlite, onPostgres]) {
    const key = await fill({ ...engine, search: 'memory', nodes: 1 }, templates)
    const searches = engine === sqlite ? (['memory'] as const) : (['memory', 'pgvector'] as const)
    for (const search of searches)
      for (const nodes of engine === sqlite ? [1] : nodeCounts) {
        progress(`${engine.name}, ${search}, ${nodes} servers`)
        const place = { ...engine, search, nodes }
        rows.push(lineOf(place, await identify(place, { key, templates, bench })))
      }
  }
  return table(head, rows)
}

const head = ['database', 'servers', 'search', 'identifications/s', 'p50 ms', 'p99 ms', 'recall@1']

/** Remembers so many people. @returns the key of the project. */
async function fill(place: Place, templates: number): Promise<string> {
  const environment = { ...environmentOf(place), LOG_LEVEL: 'warn' }
  await using service = await startGallery({ dataDir: place.folder, environment })
  const { store } = service.books
  const { gallery } = service.memory
  const owner = await store.findKey(service.key, new Date())
  if (!owner) throw new Error('the first start made no key')
  for (let done = 0; done < templates; done += facesAtATime) {
    await store.write(async (tx) => {
      for (let at = done; at < Math.min(done + facesAtATime, templates); at++) {
        const subject = await gallery.create(tx, owner, { externalId: nameOf(at) })
        const template = { modelId: 'people@1', vector: vectorOf({ name: nameOf(at) }), density: 0 }
        await gallery.addFace(tx, subject, { template, qualityScore: 90 })
      }
    })
    if (done % 5000 === 0) progress(`${place.name}: ${done} of ${templates} people`)
  }
  return service.key
}

function nameOf(person: number): string {
  return `person ${person}`
}

function environmentOf({ url, search, folder }: Place): Record<string, string> {
  return {
    DATABASE_URL: url,
    ...(search === 'pgvector' && { SEARCH: search }),
    MASTER_KEY_FILE: `${folder}.key`,
    STARTER_CREDIT_MICROS: '1000000000000',
    GALLERY_TEMPLATES_MAX: '15000000',
  }
}

type Asked = { readonly key: string; readonly templates: number; readonly bench: Bench }

async function identify(place: Place, { key, templates, bench }: Asked): Promise<Searches> {
  await using opened = new AsyncDisposableStack()
  const environment = environmentOf(place)
  const starting = Array.from({ length: place.nodes }, async (_, node) => {
    const folder = node === 0 ? place.folder : `${place.folder}-${node}`
    const server = await startProcess(folder, key, { environment })
    opened.defer(() => kill(server))
    return server.client.url
  })
  const urls = await Promise.all(starting)
  const found = { right: 0, all: 0 }
  const open = async (nth: number): Promise<Worker> => {
    const client = await openClient(urls[nth % urls.length] ?? '', key)
    const once = async (): Promise<void> => {
      const person = Math.floor(Math.random() * templates)
      const params = { ...images({ name: nameOf(person), wobble, take: 1 }), maxCandidates: 1 }
      const answer = await client.post(JSON.stringify({ action: 'svc.identify', params }))
      if (!answer.startsWith('{"ok":true')) throw new Error(answer)
      found.all++
      if (answer.includes(`"externalId":"${nameOf(person)}"`)) found.right++
    }
    return { once, close: () => client[Symbol.dispose]() }
  }
  const load = await measure(clients, bench.measureMs, open)
  return { ...load, recall: found.right / found.all }
}

function lineOf({ name, nodes, search }: Place, searches: Searches): string[] {
  const { perS, p50Ms, p99Ms, recall } = searches
  return [name, String(nodes), search, perS.toFixed(1), ms(p50Ms), ms(p99Ms), recall.toFixed(4)]
}
