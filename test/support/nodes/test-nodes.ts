import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { forkGate, type GateProcess } from '../gate/fork-gate.ts'
import { createMigratedDatabase, type TestEnvironment } from '../database/engine.ts'
import { startGallery, type TestGallery } from '../gallery/test-gallery.ts'
import {
  killGalleryProcess,
  startGalleryProcess,
  type GalleryProcess,
} from '../gallery/gallery-process.ts'
import { startGate, type TestGate } from '../gate/test-gate.ts'
import { shareService } from '../shared-service.ts'

/** The environment of a node whose time of day is shifted. */
export const shiftedClock = (shiftMs: number) => ({
  NODE_OPTIONS: `--import=${new URL('./shift-clock.ts', import.meta.url).href}`,
  CLOCK_SHIFT_MS: String(shiftMs),
})

export type NodesOptions = {
  /** The database; by default a new one of the shared server. */
  readonly databaseUrl?: string
  readonly environment?: TestEnvironment
  /** Further environment variables of a node, by its number. */
  readonly nodeEnvironment?: (node: number) => TestEnvironment
}

/** Two gate processes on one database, and a gate in this process for queries. */
export type GateNodes = AsyncDisposable & {
  readonly a: GateProcess
  readonly b: GateProcess
  readonly local: TestGate
  /** Starts a node again, or another one. */
  readonly start: (node: number) => Promise<GateProcess>
  /** Returns how often the actions of both nodes ran. */
  readonly runCount: () => Promise<number>
}

export async function startGateNodes(options: NodesOptions = {}): Promise<GateNodes> {
  const opened = new AsyncDisposableStack()
  await using starting = new AsyncDisposableStack()
  starting.use(opened)
  const { folder, environment } = await createNodeSettings(options, opened)
  const local = opened.use(
    await startGate({ dataDir: folder(0), environment: { ...starterSettings, ...environment } }),
  )
  const start = async (node: number): Promise<GateProcess> =>
    opened.use(
      await forkGate(folder(node), {
        ...starterSettings,
        ...environment,
        ...options.nodeEnvironment?.(node),
        KEY: local.key,
      }),
    )
  const [a, b] = await Promise.all([start(1), start(2)])
  const resources = starting.move()
  return {
    a,
    b,
    local,
    start,
    runCount: async () => {
      const counts = await Promise.all([a, b].map((node) => node.runCount()))
      return counts.reduce((sum, runs) => sum + runs, 0)
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}

/** Gate nodes with the default settings, for the tests that need no other ones. */
export const sharedGateNodes = shareService(() => startGateNodes())

/** Two service processes with galleries and a console on one database. */
export type GalleryNodes = AsyncDisposable & {
  readonly a: GalleryProcess
  readonly b: GalleryProcess
  readonly local: TestGallery
  readonly start: (node: number) => Promise<GalleryProcess>
}

export async function startGalleryNodes(options: NodesOptions = {}): Promise<GalleryNodes> {
  const opened = new AsyncDisposableStack()
  await using starting = new AsyncDisposableStack()
  starting.use(opened)
  const { folder, environment } = await createNodeSettings(options, opened)
  const shared = {
    ...starterSettings,
    ...environment,
    MASTER_KEY_FILE: path.join(folder(0), 'master.key'),
  }
  const local = opened.use(await startGallery({ dataDir: folder(0), environment: shared }))
  const start = async (node: number): Promise<GalleryProcess> => {
    const nodeOptions = { environment: { ...shared, ...options.nodeEnvironment?.(node) } }
    const server = await startGalleryProcess(folder(node), local.key, nodeOptions)
    opened.defer(() => killGalleryProcess(server))
    return server
  }
  const [a, b] = await Promise.all([start(1), start(2)])
  const resources = starting.move()
  return { a, b, local, start, [Symbol.asyncDispose]: () => resources.disposeAsync() }
}

/** Gallery nodes with the default settings, for the tests that need no other ones. */
export const sharedGalleryNodes = shareService(() => startGalleryNodes())

const starterSettings = { STARTER_CREDIT_MICROS: '1000000000000' }

/** Returns a folder for each node and the environment with the common database. */
async function createNodeSettings(options: NodesOptions, opened: AsyncDisposableStack) {
  const root = await mkdtemp(path.join(tmpdir(), 'facegate-nodes-'))
  opened.defer(() => rm(root, { recursive: true, force: true }))
  const url = options.databaseUrl ?? opened.use(await createMigratedDatabase()).url
  return {
    folder: (node: number) => path.join(root, String(node)),
    environment: { ...options.environment, DATABASE_URL: url },
  }
}
