import { homedir } from 'node:os'
import { type Config, settingDescriptions, settingsByTopic } from '../../config.ts'
import { type ServerReport, parseServerReport } from '../../console/pages/system/server-report.ts'
import type { SettingsTopic } from '../../console/pages/system/server-report.ts'
import type { ModelInventory } from '../../console/services.ts'
import type { Calibration } from '../../gallery/calibration/similarity.ts'
import { runAsAllAccounts } from '../../lib/account-context.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Setting } from '../../lib/setting.ts'
import { readActiveSet } from '../../models/active-set.ts'
import { type ListedModel, listModels } from '../../models/installed-packs.ts'
import type { ModelSet } from '../../models/model-set.ts'
import { templateModelFiles } from '../../models/template/template-model.ts'
import type { Store } from '../../store/database.ts'
import * as history from '../../store/system/system-history.ts'
import { readRuntimeVersions } from './runtime-versions.ts'

type SupportBundleSources = {
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
export async function createSupportBundle(config: Config, sources: SupportBundleSources) {
  const { version, store, clock, live } = sources
  const nowMs = clock()
  const { kind, version: engine, bytes } = await store.readInfo()
  const present = live && { [live.server]: await live.report() }
  return runAsAllAccounts(async () => ({
    createdAtUtc: new Date(nowMs).toISOString(),
    version,
    runtime: { ...readRuntimeVersions(), platform: process.platform, architecture: process.arch },
    database: { kind, version: engine, bytes, migrations: await history.listMigrations(store.db) },
    settings: settingValues(config),
    models: await modelVersions(sources),
    galleryCalibrations: await store.read(history.listCalibrationStates),
    servers: await listServerReports(store, present),
    history: await historyTable(store, nowMs - history.systemHistoryMs),
    rows: await store.read(history.countRows),
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

async function modelVersions({ modelsFolder, modelSet, calibration }: SupportBundleSources) {
  const templateModel = templateModelFiles()
  if (!modelSet) return { isReadable: false, templateModel }
  const listed = await listModels(modelsFolder, modelSet)
  const present = listed.filter(({ state }) => state !== 'available')
  const toVersion = ({ roles, model: id, version, sha256, bytes, state }: ListedModel) => {
    return { role: roles.join(', '), id, version, sha256, bytes, builtIn: state === 'built-in' }
  }
  return {
    active: present.filter(({ use }) => use === 'active').map(toVersion),
    installed: present.filter(({ state }) => state === 'installed').map(toVersion),
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
  const servers = await store.read(history.listServers)
  return servers.map(({ report, ...server }) => ({
    ...server,
    report: present[server.server] ?? parseServerReport(report),
  }))
}

/** One row per server and minute. */
async function historyTable(store: Store, sinceMs: number): Promise<object> {
  const samples = await store.read((tx) => history.listSamples(tx, sinceMs))
  return {
    columns: Object.keys(samples[0] ?? {}),
    rows: samples.map((sample) => Object.values(sample)),
  }
}

type ModelSource = {
  readonly modelsFolder: string
  readonly modelSet: ModelSet
  readonly calibration: Calibration
}

/** All models, with their use by this process and after its next start, and the calibration in use. */
export async function readModels({
  modelsFolder,
  modelSet,
  calibration,
}: ModelSource): Promise<ModelInventory> {
  // `facegate doctor` reports a selection that cannot be read.
  const selectedSet = await readActiveSet(modelsFolder).catch(() => modelSet)
  const selected = await listModels(modelsFolder, selectedSet)
  const nextUses = new Map(selected.map(({ model, use }) => [model, use]))
  const listed = await listModels(modelsFolder, modelSet)
  const models = listed.map((each) => ({ ...each, nextUse: nextUses.get(each.model) ?? null }))
  return { models, calibration }
}

/** Returns the value of every setting by topic. */
export function reportSettings(config: Config): readonly SettingsTopic[] {
  return Object.entries(settingsByTopic).map(([topic, settings]) => ({
    topic,
    settings: Object.entries<Setting<unknown>>(settings).map(([key, setting]) => {
      // The names of the topics are those of the configuration.
      const name = key as keyof Config
      const value: unknown = config[name]
      return {
        name,
        value: shownValue(value, setting),
        isDefault: String(setting.schema.safeParse(setting.defaultValue).data) === String(value),
        meaning: plainText(settingDescriptions[name]),
        range: plainText(setting.range),
      }
    }),
  }))
}

/** Queries of addresses can contain keys, and the home folder contains the name of a person. */
function shownValue(value: unknown, { isSecret = false }: Setting<unknown>): string {
  const text = String(value)
  if (isSecret) return text === '' ? 'not set' : 'set'
  const withoutQuery = /^https?:/u.test(text) ? text.replace(/\?.*$/u, '?[removed]') : text
  const home = homedir()
  return home.length > 1 ? withoutQuery.replace(home, '~') : withoutQuery
}

/** Removes the links and the code marks of Markdown. */
function plainText(markdown: string): string {
  return markdown.replaceAll(/\[([^\]]*)\]\([^)]*\)/gu, '$1').replaceAll('`', '')
}
