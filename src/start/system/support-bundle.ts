import type { Config } from '../../config.ts'
import { parseServerReport, type ServerReport } from '../../console/pages/system/server-report.ts'
import type { ModelSummary } from '../../console/pages/system/server-status.ts'
import type { Calibration } from '../../gallery/calibration/similarity.ts'
import { runAsAllAccounts } from '../../lib/account-context.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ModelSet } from '../../models/model-set.ts'
import { templateModelFiles } from '../../models/template/template-model.ts'
import type { Store } from '../../store/database.ts'
import {
  countRows,
  listCalibrationStates,
  listMigrations,
  listSamples,
  listServers,
  systemHistoryMs,
} from '../../store/system/system-history.ts'
import { listModelSummaries } from './read-models.ts'
import { reportSettings } from './report-settings.ts'
import { readRuntimeVersions } from './runtime-versions.ts'

export type SupportBundleSources = {
  readonly version: string
  readonly store: Store
  readonly clock: Clock
  readonly modelsFolder: string
  /** undefined: the selection of models cannot be read. */
  readonly modelSet: ModelSet | undefined
  /** undefined: the calibration of the recognizer cannot be read. */
  readonly calibration: Calibration | undefined
  /** The server that creates the bundle; undefined for the command line. */
  readonly live?: { readonly server: string; readonly report: () => Promise<ServerReport> }
}

/**
 * Collects versions, settings, health, history, recent warnings and counts of the installation. It
 * contains no secret, no name of a person and no data of a subject: only what is listed here is
 * included, and texts of errors are left out.
 */
export async function createSupportBundle(
  config: Config,
  sources: SupportBundleSources,
): Promise<Readonly<Record<string, unknown>>> {
  const { version, store, clock, live } = sources
  const nowMs = clock()
  const { kind, version: engine, bytes } = await store.readInfo()
  const present = live && { [live.server]: await live.report() }
  return runAsAllAccounts(async () => ({
    createdAtUtc: new Date(nowMs).toISOString(),
    version,
    runtime: { ...readRuntimeVersions(), platform: process.platform, architecture: process.arch },
    database: { kind, version: engine, bytes, migrations: await listMigrations(store.db) },
    settings: settingValues(config),
    models: await modelVersions(sources),
    galleryCalibrations: await store.read(listCalibrationStates),
    servers: await listServerReports(store, present),
    history: await historyTable(store, nowMs - systemHistoryMs),
    rows: await store.read(countRows),
  }))
}

/** The values by topic and name; the meanings are in docs/configuration.md. */
function settingValues(config: Config): object {
  const topics = reportSettings(config).map(({ topic, settings }) => [
    topic,
    Object.fromEntries(settings.map(({ name, value, isDefault }) => [name, { value, isDefault }])),
  ])
  return Object.fromEntries(topics)
}

async function modelVersions({
  modelsFolder,
  modelSet,
  calibration,
}: SupportBundleSources): Promise<object> {
  const templateModel = templateModelFiles()
  if (!modelSet) return { isReadable: false, templateModel }
  const { active, installed } = await listModelSummaries({ modelsFolder, modelSet })
  const toVersion = ({ role, id, version, sha256, bytes, builtIn }: ModelSummary) => {
    return { role, id, version, sha256, bytes, builtIn }
  }
  return {
    active: active.map(toVersion),
    installed: installed.map(toVersion),
    templateModel,
    calibration: calibration
      ? { modelId: calibration.modelId, measuredOn: calibration.measuredOn }
      : null,
  }
}

async function listServerReports(
  store: Store,
  present: Readonly<Record<string, ServerReport>> = {},
): Promise<readonly object[]> {
  const servers = await store.read(listServers)
  return servers.map(({ report, ...server }) => ({
    ...server,
    report: present[server.server] ?? parseServerReport(report),
  }))
}

/** One row per server and minute. */
async function historyTable(store: Store, sinceMs: number): Promise<object> {
  const samples = await store.read((tx) => listSamples(tx, sinceMs))
  return {
    columns: Object.keys(samples[0] ?? {}),
    rows: samples.map((sample) => Object.values(sample)),
  }
}
