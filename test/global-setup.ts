import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import {
  clusterSkipReason,
  startPostgresCluster,
  type PostgresCluster,
} from './support/database/postgres-server.ts'
import { createMemoryFolder, type MemoryFolder } from './support/memory-folder.ts'
import { outputDir } from './support/paths.ts'

/** One PostgreSQL for all test files, which find it by the environment. No test may kill it. */
let cluster: PostgresCluster | undefined

/** The temporary files of all test files, unless the developer has set a folder for them. */
let temporaryFiles: MemoryFolder | undefined

/** The folder of databases that test files copy; see `createDataFolder`. */
let templates: string | undefined

export async function globalSetup(): Promise<void> {
  // The test files, and the services they start, load the same modules: each is compiled once.
  process.env['NODE_COMPILE_CACHE'] ??= path.join(outputDir, 'compiled')
  temporaryFiles = process.env['TMPDIR'] ? undefined : await createMemoryFolder()
  if (temporaryFiles) {
    process.env['TEST_DISK_FOLDER'] = tmpdir()
    process.env['TMPDIR'] = temporaryFiles.folder
  }
  templates = await mkdtemp(path.join(tmpdir(), 'facegate-templates-'))
  process.env['TEST_TEMPLATE_FOLDER'] = templates
  // The saved context of the developer must not be used.
  process.env['XDG_CONFIG_HOME'] = path.join(templates, 'config')
  if (clusterSkipReason !== undefined || process.env['TEST_POSTGRES_URL']) return
  cluster = await startPostgresCluster({ isDurable: false })
  process.env['TEST_POSTGRES_URL'] = cluster.adminUrl
}

export async function globalTeardown(): Promise<void> {
  await cluster?.stop()
  if (templates) await rm(templates, { recursive: true, force: true })
  await temporaryFiles?.remove()
}
