import { totalSourceBytes } from '../../models/install/required-files.ts'
import { installPack } from '../../models/install/install-pack.ts'
import { findPackSource, type PackSource } from '../../models/install/pack-source.ts'
import type { InstalledPack } from '../../models/installed-packs.ts'
import { isRecognizerDecoding } from '../../models/decoding.ts'
import { isCalibrated } from '../../models/model-set.ts'
import { describeUncalibrated } from '../../models/select-models.ts'
import type { PackManifest } from '../../models/pack-manifest.ts'
import { runSmokeTest } from '../../vision/self-test/self-test.ts'
import { auditedFileChange } from '../audit/audited-change.ts'
import { type CommandValues, createProgressBar, print } from '../command.ts'
import { modelsFolder, readSettings } from '../read-settings.ts'
import { usePack } from './use.ts'

/** @param values.pack a name of the catalogue, a folder or an address. */
export async function install(
  values: CommandValues<'pack', 'from'> & Readonly<Record<'use' | 'accept-licence', boolean>>,
): Promise<void> {
  const source = await findPackSource(values.pack)
  const { manifest } = source
  requireAcceptedLicences(manifest, values['accept-licence'])
  console.error(`${manifest.name}: ${manifest.description}${formatSize(manifest)}`)
  const { pack, pinned, models } = await installSource(source, values.from)
  for (const file of pinned)
    console.error(`the manifest has no checksum of ${file}: that of the received file is recorded`)
  const selected = values.use ? await usePack(modelsFolder(), manifest.name) : undefined
  const result = { installed: manifest.name, models, pinned, ...selected }
  print(result, values.json, () =>
    [
      `installed ${models.map(({ model, role }) => `${model} (${role})`).join(', ')}`,
      ...(selected?.messages ?? describeUse(pack)),
    ].join('\n'),
  )
}

/** Installs a pack, with progress on standard error and an entry in the audit log. */
export async function installSource(source: PackSource, filesFolder?: string) {
  const { manifest } = source
  const progress = createFileProgress()
  const { pack, pinnedFiles: pinned } = await installPack(modelsFolder(), source, {
    filesFolder,
    onProgress: progress.update,
    smokeTest: (model) => runSmokeTest(model, readSettings().VISION_TIMEOUT_MS),
  }).finally(progress.end)
  const models = manifest.models.map(({ id, role }) => ({ model: `${manifest.name}/${id}`, role }))
  // The download takes minutes, so it is not part of the transaction of the entry.
  const installed = { auditAction: 'models.install', target: manifest.name, detail: { models } }
  await auditedFileChange(installed, () => {})
  return { pack, pinned, models }
}

/** Returns how to use an installed pack: its recognizers may need a similarity table before. */
function describeUse({ folder, manifest: { name, models } }: InstalledPack): readonly string[] {
  const uncalibrated = models
    .map((model) => ({ folder, model }))
    .filter((model) => !isCalibrated(model))
  const hasBoth = models.some((model) => {
    return isRecognizerDecoding(model.decoding) && model.decoding.withBuiltin
  })
  const both = `to use it together with the built-in recognizer: facegate models use builtin+${name}`
  return [
    ...(uncalibrated.length > 0
      ? uncalibrated.map(describeUncalibrated)
      : [`to use it: facegate models use ${name}`]),
    ...(hasBoth ? [both] : []),
  ]
}

/** @throws Error, after a warning for each licence that requires --accept-licence. */
function requireAcceptedLicences({ name, models }: PackManifest, areAccepted: boolean): void {
  const restricted = models.filter(({ licence }) => licence.commercialUse !== 'allowed')
  for (const { id, licence } of restricted) {
    const verdict =
      licence.commercialUse === 'forbidden'
        ? 'FORBIDS commercial use'
        : 'does NOT CLEARLY ALLOW commercial use'
    console.error(`WARNING: the licence of ${name}/${id} ${verdict}: "${licence.name}"`)
    if (licence.note !== undefined) console.error(`         ${licence.note}`)
  }
  if (restricted.length > 0 && !areAccepted)
    throw new Error('nothing was installed; read the licence, then repeat with --accept-licence')
}

function formatSize(manifest: PackManifest): string {
  const bytes = totalSourceBytes(manifest)
  return bytes === null ? '' : ` (${(bytes / 1e6).toFixed(1)} MB)`
}

/** Shows one progress bar per file. */
function createFileProgress() {
  let bar = createProgressBar('kB')
  let currentFile = ''
  let shownTenths = -1
  return {
    update: (file: string, done: number, total: number | null): void => {
      if (file !== currentFile) {
        if (currentFile !== '') bar.end()
        console.error(file)
        bar = createProgressBar('kB')
        currentFile = file
        shownTenths = -1
      }
      // Without a terminal, each update is one line: limit them to one per 10 %.
      const tenths = total === null ? 0 : Math.floor((10 * done) / total)
      if (tenths === shownTenths) return
      shownTenths = tenths
      bar.update(Math.ceil(done / 1000), Math.ceil((total ?? done) / 1000))
    },
    end: (): void => {
      if (currentFile !== '') bar.end()
    },
  }
}
