import { readActiveSet } from '../../models/active-set.ts'
import { listModels } from '../../models/installed-packs.ts'
import { describeError } from '../command-line/describe-error.ts'
import { formatTable, print } from '../command.ts'
import { modelsFolder, readSettings } from '../read-settings.ts'
import { version } from '../version.ts'
import { inspectInstallation, type Installation } from './inspect-installation.ts'

/** Prints what is wrong with the installation. @throws Error if anything must be repaired. */
export async function doctor({ json }: { readonly json: boolean }): Promise<void> {
  const { problems } = await inspectInstallation(readSettings())
  print(problems, json, () =>
    problems.length === 0
      ? 'no problem was found'
      : problems
          .map(({ severity, problem, remedy }) => `${severity}  ${problem}\n  remedy: ${remedy}`)
          .join('\n'),
  )
  const broken = problems.filter(({ severity }) => severity === 'repair').length
  if (broken > 0) throw new Error(`${broken} of ${problems.length} problems must be repaired`)
}

/** Prints the state of the installation on one page. */
export async function status({ json }: { readonly json: boolean }): Promise<void> {
  const installation = await inspectInstallation(readSettings())
  const models = await listActiveModels().catch((error: unknown) => [describeError(error)])
  const state = { version, node: process.version, ...installation, models }
  print(state, json, () => formatTable(['Facegate', version], toRows(installation, models)))
}

async function listActiveModels(): Promise<string[]> {
  const listed = await listModels(modelsFolder(), await readActiveSet(modelsFolder()))
  const active = listed.filter(({ use }) => use === 'active')
  return active.map(({ model, version, roles }) => `${model}@${version}: ${roles.join(', ')}`)
}

function toRows(installation: Installation, models: readonly string[]): string[][] {
  const { address, service, database, freeBytes, problems } = installation
  const free =
    freeBytes === null ? 'no data folder' : `${(freeBytes / 1024 ** 3).toFixed(1)} GiB free`
  const state = service.status === 200 ? 'ready' : service.detail
  return [
    ['node', process.versions.node],
    ['service', `${address} ${state}`],
    ...(typeof database === 'string' ? [['database', database]] : databaseRows(database)),
    ['disk', free],
    ...models.map((model, index) => [index === 0 ? 'models' : '', model]),
    ['problems', problems.length === 0 ? 'none' : 'facegate doctor prints the remedies'],
    ...problems.map(({ severity, problem }) => ['', `${severity}: ${problem}`]),
  ]
}

function databaseRows(database: Exclude<Installation['database'], string>): string[][] {
  const { kind, version: engine, place, bytes, rows, lastBackupMs } = database
  const { accounts, projects, keys, subjects, templates } = rows
  const counts = Object.entries({ accounts, projects, keys, subjects, templates })
  const unknown = kind === 'sqlite' ? 'none' : 'by the tools of PostgreSQL'
  return [
    ['database', `${engine}, ${(bytes / 1e6).toFixed(1)} MB, ${place}`],
    ['content', counts.map(([name, count]) => `${name} ${count}`).join(', ')],
    ['backup', lastBackupMs === null ? unknown : new Date(lastBackupMs).toISOString()],
  ]
}
