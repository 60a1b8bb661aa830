import { stat } from 'node:fs/promises'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { readChosenSet } from '../../models/active.ts'
import { builtinPack } from '../../models/builtin.ts'
import { catalogue } from '../../models/catalogue.ts'
import { listPacks, refOf } from '../../models/installed.ts'
import type { ModelEntry } from '../../models/manifest.ts'
import type { ModelSet, PackManifest, PackModel } from '../../models/pack.ts'
import { columns, print } from '../admin.ts'
import { modelsFolder } from './folder.ts'

type Row = {
  /** `pack/model`. */
  readonly model: string
  readonly roles: readonly string[]
  readonly state: 'built-in' | 'installed' | 'available'
  /** Whether the next start looks with it, or keeps it for old templates. */
  readonly use: 'active' | 'former' | null
  readonly licence: string
  readonly commercialUse: PackModel['licence']['commercialUse']
  /** Of its file, or of what is to be fetched; null where that is not known. */
  readonly bytes: number | null
}

export async function list(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { json: { type: 'boolean', default: false } },
  })
  const folder = modelsFolder()
  const set = await readChosenSet(folder)
  const packs = await listPacks(folder)
  const names = new Set(packs.map(({ manifest }) => manifest.name))
  const rows = [
    ...(await Promise.all(
      Object.values<ModelEntry>(builtinPack.models).map((entry) => builtinRow(folder, set, entry)),
    )),
    ...(await Promise.all(
      packs.flatMap((pack) =>
        pack.manifest.models.map((model) => installedRow(pack.folder, set, model)),
      ),
    )),
    ...catalogue.filter(({ name }) => !names.has(name)).flatMap(availableRows),
  ]
  print(rows, values.json, () => table(rows))
}

async function builtinRow(folder: string, set: ModelSet, entry: ModelEntry): Promise<Row> {
  const replaceable = { detector: set.detector, recognizer: set.recognizer, liveness: set.liveness }
  const isActive = entry.roles.some(
    (role) => !(role in replaceable) || replaceable[role as PackModel['role']] === 'builtin',
  )
  const isFormer = entry.roles.includes('recognizer') && set.formerRecognizers.includes('builtin')
  return {
    model: `builtin/${entry.id}`,
    roles: entry.roles,
    state: 'built-in',
    use: useOf(isActive, isFormer),
    licence: entry.provenance.licence,
    commercialUse: 'unclear',
    bytes: await bytesOf(path.join(folder, entry.product.file)),
  }
}

async function installedRow(folder: string, set: ModelSet, model: PackModel): Promise<Row> {
  const ref = refOf({ folder, model })
  const { detector, recognizer, liveness } = set
  const active = [detector, recognizer, ...(liveness === 'builtin' ? [] : liveness)]
  const names = (used: ModelSet['detector']): boolean => used !== 'builtin' && refOf(used) === ref
  return {
    ...about(model),
    model: ref,
    state: 'installed',
    use: useOf(active.some(names), set.formerRecognizers.some(names)),
    bytes: await bytesOf(path.join(folder, model.file)),
  }
}

function availableRows({ name, models }: PackManifest): Row[] {
  return models.map((model) => ({
    ...about(model),
    model: `${name}/${model.id}`,
    state: 'available',
    use: null,
    bytes: model.source?.bytes ?? null,
  }))
}

function about({ role, licence }: PackModel): Pick<Row, 'roles' | 'licence' | 'commercialUse'> {
  return { roles: [role], licence: licence.name, commercialUse: licence.commercialUse }
}

function useOf(isActive: boolean, isFormer: boolean): Row['use'] {
  if (isActive) return 'active'
  return isFormer ? 'former' : null
}

async function bytesOf(place: string): Promise<number | null> {
  return stat(place).then(
    ({ size }) => size,
    () => null,
  )
}

function table(rows: readonly Row[]): string {
  const head = ['model', 'role', 'state', 'use', 'business use', 'MB', 'licence']
  return columns(
    head,
    rows.map((row) => [
      row.model,
      row.roles.join('+'),
      row.state,
      row.use ?? '',
      row.commercialUse,
      row.bytes === null ? '?' : (row.bytes / 1e6).toFixed(1),
      row.licence.length > 44 ? `${row.licence.slice(0, 43)}…` : row.licence,
    ]),
  )
}
