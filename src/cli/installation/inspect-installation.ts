import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Config } from '../../config.ts'
import { type AccountAlert, diskAlerts, findAlerts } from '../../console/analytics/alerts.ts'
import { openKeyring } from '../../gallery/keys/keyring.ts'
import { checkMasterKey } from '../../gallery/keys/open-keys.ts'
import { dayMs } from '../../lib/clock.ts'
import { describeError } from '../../lib/observability/describe-error.ts'
import { readActiveSet } from '../../models/active-set.ts'
import { findDamagedFiles } from '../../models/builtin/prepare-builtin-pack.ts'
import { listModels } from '../../models/installed-packs.ts'
import { requireLicences } from '../../models/require-licences.ts'
import { readRecognizerCalibration } from '../../start/active-models.ts'
import { freeBytes as freeBytesOf } from '../../start/create-facegate.ts'
import { reportStorageRisks } from '../../start/open-database.ts'
import { masterKeyPath, modelsFolderOf } from '../../start/store-location.ts'
import { findAuditEntries } from '../../store/console/audit-log.ts'
import { hasActiveUser } from '../../store/console/users.ts'
import type { Store } from '../../store/database.ts'
import { countRows } from '../../store/system/system-history.ts'
import { findProjectSummaries } from '../../store/tenancy/project-summaries.ts'
import { listAccounts } from '../../store/tenancy/projects.ts'
import { formatTable, print } from '../command.ts'
import { findModelFaults } from '../models/verify.ts'
import { modelsFolder, readSettings } from '../read-settings.ts'
import { createOwnerLink } from '../tenancy/console-link.ts'
import { version } from '../version.ts'
import { requireAccountId, withStore } from '../with-store.ts'
import { localAddress, publicAddress, requestStatus } from './service-address.ts'
import texts from './remedies.json' with { type: 'json' }

/** What is checked, and what to do about a problem. */
const remedies = texts satisfies Record<AccountAlert['kind'], string>

type Installation = Awaited<ReturnType<typeof inspectInstallation>>

/** Reads the state of the installation and finds its problems. It changes nothing. */
async function inspectInstallation(config: Config) {
  const address = localAddress(config)
  const service = await requestStatus(`${address}/readyz`)
  const check = service.status === null ? 'service' : 'readiness'
  const opened = await withStore(async (store) => ({
    database: await readDatabase(store),
    masterKeyFaults: await faultsOf(async () => {
      openKeyring(masterKeyPath(config))
      await store.read((tx) => checkMasterKey(tx, masterKeyPath(config)))
    }),
  })).catch(describeError)
  const freeBytes = existsSync(config.DATA_DIR) ? freeBytesOf(config.DATA_DIR) : null
  const problems: readonly InstallationProblem[] = [
    ...findRuntimeProblems(process.versions.node),
    ...(service.status === 200
      ? []
      : [problemOf(check, `${address}: ${service.detail}`, check === 'service')]),
    ...(await findAddressProblems(config)),
    ...(typeof opened === 'string'
      ? [problemOf('database', opened)]
      : findDatabaseProblems(opened.database, opened.masterKeyFaults)),
    ...findFolderProblems(config),
    ...(freeBytes === null ? [] : diskAlerts({ freeBytes }).map(toProblem)),
    ...(await findModelProblems(config)),
  ]
  const database = typeof opened === 'string' ? opened : opened.database
  return { address, service, database, freeBytes, problems }
}

type InstallationProblem = ReturnType<typeof problemOf>

/** Something that does not work (`repair`), or that can become a problem (`warning`). */
function problemOf(check: keyof typeof remedies, problem: string, isWarning = false) {
  const severity = isWarning ? 'warning' : 'repair'
  return { check, severity, problem, remedy: remedies[check] } as const
}

/** @param version of Node, such as `24.1.0`. */
export function findRuntimeProblems(version: string): readonly InstallationProblem[] {
  if (Number.parseInt(version, 10) >= 24) return []
  return [problemOf('node', `Node ${version} lacks a stable SQLite module`, true)]
}

/** The API answers a request without a key with 401, also through a proxy. */
async function findAddressProblems({ PUBLIC_URL }: Config) {
  if (PUBLIC_URL === '') return []
  const { status, detail } = await requestStatus(`${PUBLIC_URL}/v1/me`)
  if (status === 401) return []
  return [problemOf('publicUrl', `${PUBLIC_URL} does not reach the service: ${detail}`, true)]
}

async function readDatabase(store: Store) {
  const info = await store.readInfo()
  const nowMs = (store.timeOfDay ?? Date.now)()
  const accounts = await listAccounts(store.db)
  return store.read(async (tx) => {
    const alerts: AccountAlert[] = []
    let lastBackupMs: number | null = null
    let lastRotationMs: number | null = null
    for (const { accountId } of accounts) {
      const projects = await findProjectSummaries(tx, accountId)
      alerts.push(...(await findAlerts(tx, { accountId, projects, nowMs })))
      const findLastMs = async (auditAction: string) =>
        (await findAuditEntries(tx, { accountId, auditAction, limit: 1 }))[0]?.atMs ?? null
      // PostgreSQL has its own tools for backups. A migrated entry is of the former SQLite file.
      if (info.kind === 'sqlite') lastBackupMs ??= await findLastMs('database.backup')
      lastRotationMs ??= await findLastMs('masterKey.rotate')
    }
    return { ...info, rows: await countRows(tx), nowMs, lastBackupMs, lastRotationMs, alerts }
  })
}

const backupDaysMax = 7

function findDatabaseProblems(
  database: Awaited<ReturnType<typeof readDatabase>>,
  masterKeyFaults: readonly string[],
): readonly InstallationProblem[] {
  const problems = database.alerts.map(toProblem)
  for (const fault of masterKeyFaults) problems.push(problemOf('masterKey', fault))
  const backupFault = findBackupFault(database)
  return backupFault ? [...problems, problemOf('backup', backupFault, true)] : problems
}

function findBackupFault(database: Awaited<ReturnType<typeof readDatabase>>): string | undefined {
  const { kind, lastBackupMs, lastRotationMs, nowMs } = database
  if (kind !== 'sqlite') return undefined
  if (lastBackupMs === null) return 'there was no facegate backup'
  if (lastRotationMs !== null && lastRotationMs > lastBackupMs)
    return 'the last facegate backup is older than the rotation of the master key: it cannot be decrypted'
  const days = Math.floor((nowMs - lastBackupMs) / dayMs)
  return days >= backupDaysMax ? `the last facegate backup is ${days} days old` : undefined
}

/** Returns the message of an error; none if the check succeeds. */
async function faultsOf(check: () => Promise<unknown>): Promise<readonly string[]> {
  return check().then(
    () => [],
    (error: unknown) => [describeError(error)],
  )
}

function toProblem({ kind, severity, text }: AccountAlert): InstallationProblem {
  return problemOf(kind, text, severity !== 'critical')
}

function findFolderProblems(config: Config): readonly InstallationProblem[] {
  const problems: InstallationProblem[] = []
  const add = (fields: object, text: string): void =>
    void problems.push(problemOf('folders', `${Object.values(fields).join()}: ${text}`, true))
  reportStorageRisks(config, { info: add, warn: add })
  return problems
}

async function findModelProblems(config: Config): Promise<readonly InstallationProblem[]> {
  const modelsFolder = modelsFolderOf(config)
  const damaged = await findDamagedFiles(modelsFolder)
  const altered: string[] = []
  const faults = await faultsOf(async () => {
    for (const { model, fault } of await findModelFaults([]))
      if (fault !== null) altered.push(`${model}: ${fault}`)
    const set = await readActiveSet(modelsFolder)
    await readRecognizerCalibration(set.recognizer)
    await requireLicences(config, modelsFolder, set)
  })
  return [
    ...damaged.map((name) => problemOf('builtinModels', `${name} is damaged`)),
    ...[...altered, ...faults].map((fault) => problemOf('models', fault)),
  ]
}

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

/**
 * Prints the address of the console and opens it in a browser. While the console has no user, the
 * address is a link that sets the password of an owner. Such a link is not passed to a program:
 * other users of the machine can read the arguments of programs.
 */
export async function open({ json }: { readonly json: boolean }): Promise<void> {
  const config = readSettings()
  const link = await withStore(async (store) =>
    (await store.read(hasActiveUser))
      ? undefined
      : createOwnerLink(store, await requireAccountId(store)),
  )
  const address = `${publicAddress(config)}${link ?? '/'}`
  const local = localAddress(config)
  const { status, detail } = await requestStatus(`${local}/healthz`)
  if (status === null) console.error(`${local} does not answer: ${detail}; run facegate serve`)
  else if (link === undefined && !json && process.stdout.isTTY) startBrowser(address)
  print({ address, isSetupLink: link !== undefined }, json, () => address)
}

/** Without a browser or a screen, the printed address remains. */
function startBrowser(address: string): void {
  const programs: Partial<Record<NodeJS.Platform, string>> = { darwin: 'open', win32: 'explorer' }
  execFile(programs[process.platform] ?? 'xdg-open', [address], () => {}).unref()
}
