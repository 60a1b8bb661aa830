import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { databaseOf } from './engine.ts'
import { clientOf } from './facegate.ts'
import type { EyesOfProcess } from './fixtures/gallery-server.ts'
import { galleryClient, type GalleryClient } from './gallery.ts'

/** A gallery's service in a process of its own, to be killed. */
export type GalleryProcess = {
  readonly process: ChildProcess
  readonly client: GalleryClient
  readonly key: string
}

type Environment = Readonly<Record<string, string>>

export async function startProcess(
  dataDir: string,
  key = '',
  { environment = {}, ...eyes }: EyesOfProcess & { environment?: Environment } = {},
): Promise<GalleryProcess> {
  const script = path.join(import.meta.dirname, 'fixtures/gallery-server.ts')
  const child = spawn(process.execPath, [script, dataDir, key, JSON.stringify(eyes)], {
    env: { ...process.env, ...environment, ...(await databaseOf(dataDir, environment)) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  const said = JSON.parse(line.toString()) as { url: string; key: string }
  return { process: child, key: said.key, client: galleryClient(clientOf(said.url, said.key)) }
}

export async function kill({ process: child }: GalleryProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}
