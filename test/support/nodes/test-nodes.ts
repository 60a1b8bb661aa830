import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { forkGate, type GateProcess } from '../gate/fork-gate.ts'
import { createMigratedDatabase } from '../database/engine.ts'
import { startGallery, type TestGallery } from '../gallery/test-gallery.ts'
import {
  killGalleryProcess,
  startGalleryProcess,
  type GalleryProcess,
} from '../gallery/gallery-process.ts'
import { startGate, type TestGate } from '../gate/test-gate.ts'

type TestEnvironment = Readonly<Record<string, string>>

/** Loads a node with a time of day that is off by so much. */
export const shiftedClock = (shiftMs: number) => ({
  NODE_OPTIONS: `--import=${new URL('./shift-clock.ts', import.meta.url).href}`,
  CLOCK_SHIFT_MS: String(shiftMs),
})

export type NodesOptions = {
  /** The database; by default a fresh one of the shared server. */
  readonly databaseUrl?: string
  readonly environment?: TestEnvironment
  /** What only one of the nodes is given, by its number. */
  readonly nodeEnvironment?: (node: number) => TestEnvironment
}

/** Two gates, each a process, on one database; this process looks into it. */
export type GateNodes = AsyncDisposable & {
  readonly a: GateProcess
  readonly b: GateProcess
  readonly local: TestGate
  /** Starts a node anew, or one more. */
  readonly start: (node: number) => Promise<GateProcess>
  /** How often the actions of the nodes ran. */
  readonly runCount: () => Promise<number>
}

export async function startGateNodes(options: NodesOptions = {}): Promise<GateNodes> {
  const opened = new AsyncDisposableStack()
  await using guarded = new AsyncDisposableStack()
  guarded.use(opened)
  const { folder, environment } = await createNodeSettings(options, opened)
  const inside = opened.use(
    await startGate({ dataDir: folder(0), environment: { ...starterSettings, ...environment } }),
  )
  const start = async (node: number): Promise<GateProcess> =>
    opened.use(
      await forkGate(folder(node), {
        ...starterSettings,
        ...environment,
        ...options.nodeEnvironment?.(node),
        KEY: inside.key,
      }),
    )
  const [a, b] = await Promise.all([start(1), start(2)])
  const held = guarded.move()
  return {
    a,
    b,
    local: inside,
    start,
    runCount: async () => {
      const counts = await Promise.all([a, b].map((node) => node.runCount()))
      return counts.reduce((sum, runs) => sum + runs, 0)
    },
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  }
}

/** Two services with galleries and a console, each a process, on one database. */
export type GalleryNodes = AsyncDisposable & {
  readonly a: GalleryProcess
  readonly b: GalleryProcess
  readonly local: TestGallery
  readonly start: (node: number) => Promise<GalleryProcess>
}

export async function startGalleryNodes(options: NodesOptions = {}): Promise<GalleryNodes> {
  const opened = new AsyncDisposableStack()
  await using guarded = new AsyncDisposableStack()
  guarded.use(opened)
  const { folder, environment } = await createNodeSettings(options, opened)
  const shared = {
    ...starterSettings,
    ...environment,
    MASTER_KEY_FILE: path.join(folder(0), 'master.key'),
  }
  const inside = opened.use(await startGallery({ dataDir: folder(0), environment: shared }))
  const start = async (node: number): Promise<GalleryProcess> => {
    const own = { environment: { ...shared, ...options.nodeEnvironment?.(node) } }
    const server = await startGalleryProcess(folder(node), inside.key, own)
    opened.defer(() => killGalleryProcess(server))
    return server
  }
  const [a, b] = await Promise.all([start(1), start(2)])
  const held = guarded.move()
  return { a, b, local: inside, start, [Symbol.asyncDispose]: () => held.disposeAsync() }
}

const starterSettings = { STARTER_CREDIT_MICROS: '1000000000000' }

/** A folder for each node, and the one database. */
async function createNodeSettings(options: NodesOptions, opened: AsyncDisposableStack) {
  const root = await mkdtemp(path.join(tmpdir(), 'facegate-nodes-'))
  opened.defer(() => rm(root, { recursive: true, force: true }))
  const url = options.databaseUrl ?? opened.use(await createMigratedDatabase()).url
  return {
    folder: (node: number) => path.join(root, String(node)),
    environment: { ...options.environment, DATABASE_URL: url },
  }
}
