import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { databaseSettings, type TestEnvironment } from '../database/engine.ts'
import { createTestClient } from '../facegate/test-client.ts'
import type { GalleryProcessOptions } from './gallery-process-main.ts'
import { createGalleryClient, type GalleryClient } from './test-gallery.ts'

/** A service in a separate process that tests can kill. */
export type GalleryProcess = {
  readonly process: ChildProcess
  readonly client: GalleryClient
  readonly key: string
}

export async function startGalleryProcess(
  dataDir: string,
  key = '',
  options: SpawnOptions = {},
): Promise<GalleryProcess> {
  const child = await spawnGallery(dataDir, key, options)
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  const started = JSON.parse(line.toString()) as { url: string; key: string }
  return {
    process: child,
    key: started.key,
    client: createGalleryClient(createTestClient(started.url, started.key)),
  }
}

type SpawnOptions = GalleryProcessOptions & { readonly environment?: TestEnvironment }

async function spawnGallery(
  dataDir: string,
  key: string,
  { environment = {}, ...options }: SpawnOptions,
) {
  const script = path.join(import.meta.dirname, 'gallery-process-main.ts')
  return spawn(process.execPath, [script, dataDir, key, JSON.stringify(options)], {
    env: { ...process.env, ...environment, ...(await databaseSettings(dataDir, environment)) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

export async function killGalleryProcess({ process: child }: GalleryProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}
