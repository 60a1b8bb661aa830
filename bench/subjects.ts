import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { sql } from '../src/store/database.ts'
import { startGallery, type TestGallery } from '../test/support/gallery/test-gallery.ts'
import {
  postgresSkipReason,
  startPostgresCluster,
} from '../test/support/database/postgres-server.ts'
import { countStatements } from '../test/support/database/count-statements.ts'
import { fillGroup, fillSubjects } from '../test/support/gallery/fill-subjects.ts'
import { measureStall } from './support/measure-stall.ts'
import { markdownTable, showProgress } from './support/table.ts'

/**
 * `npm run bench subjects [--members 12000] [--subjects 200000]`: the deletion of a group with this
 * many members, and searches for a text among this many subjects, over HTTP. It prints the SQL
 * statements, the duration, and the longest time for which the event loop of the service was blocked.
 * Client and service share one process, so the client's work is included.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      members: { type: 'string', default: '12000' },
      subjects: { type: 'string', default: '200000' },
    },
  })
  const sizes = { members: Number(values.members), subjects: Number(values.subjects) }
  const rows = await measureEngine('SQLite', {}, sizes)
  if (postgresSkipReason === undefined) {
    await using cluster = await startPostgresCluster()
    await using database = await cluster.createDatabase()
    rows.push(...(await measureEngine('PostgreSQL', { DATABASE_URL: database.url }, sizes)))
  }
  const stalls = ['longest stall, ms', 'longest stall, ms of CPU']
  const head = ['', 'request', 'found', 'statements', 'rows', ...stalls, 's']
  console.log(markdownTable(head, rows))
}

type Sizes = { readonly members: number; readonly subjects: number }

async function measureEngine(
  engine: string,
  environment: Readonly<Record<string, string>>,
  { members, subjects }: Sizes,
): Promise<string[][]> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-bench-subjects-'))
  try {
    await using gallery = await startGallery({ environment, dataDir })
    const rows: string[][] = []
    showProgress(`${engine}: enrolling ${members} members`)
    const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
    await fillGroup(gallery, client.project, members)
    const measure = async (method: string, route: string): Promise<void> => {
      showProgress(`${engine}: ${method} ${route}`)
      rows.push([engine, ...(await measureRequest(client, method, route))])
    }
    await measure('DELETE', '/v1/groups/members')
    showProgress(`${engine}: adding ${subjects} subjects`)
    await fillSubjects(gallery, client.project, subjects)
    // PostgreSQL would do it within a minute.
    await sql`analyze`.execute(gallery.database.store.db)
    for (const text of ['person', 'zzzzz', 'zz', `${subjects - 1} last`])
      await measure('GET', `/v1/subjects?q=${encodeURIComponent(text)}`)
    return rows
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
}

async function measureRequest(
  { url, key }: Pick<TestGallery, 'url' | 'key'>,
  method: string,
  route: string,
): Promise<string[]> {
  const statements = countStatements()
  const stall = measureStall()
  const startMs = performance.now()
  const response = await fetch(`${url}${route}`, { method, headers: { 'x-api-key': key } })
  const text = await response.text()
  const seconds = (performance.now() - startMs) / 1000
  const { wallMs, cpuMs } = stall.stop()
  const counts = statements.stop()
  if (response.status !== 200) throw new Error(`${route}: ${response.status} ${text}`)
  const { items, deletedCount } = JSON.parse(text)
  const found = deletedCount ?? items.length
  const stallCells = [wallMs, cpuMs].map((ms) => ms.toFixed(0))
  const cells = [found, counts.statements, counts.rows, ...stallCells, seconds.toFixed(2)]
  return [`${method} ${route}`, ...cells.map(String)]
}
