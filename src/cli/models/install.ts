import { parseArgs } from 'node:util'
import { totalSourceBytes } from '../../models/install/required-files.ts'
import { installPack } from '../../models/install/install-pack.ts'
import { findPackSource } from '../../models/install/pack-source.ts'
import type { PackManifest } from '../../models/pack-manifest.ts'
import { runSmokeTest } from '../../vision/self-test/run-smoke-test.ts'
import { print } from '../with-store.ts'
import { UsageError } from '../command.ts'
import { createProgressBar } from '../progress-bar.ts'
import { modelsFolder } from './models-folder.ts'
import { usePack } from './use.ts'

export async function install(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      use: { type: 'boolean', default: false },
      from: { type: 'string' },
      'accept-licence': { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  })
  const [wanted, ...rest] = positionals
  if (wanted === undefined || rest.length > 0)
    throw new UsageError('name one pack, folder or address')
  const offer = await findPackSource(wanted)
  const { manifest } = offer
  requireAcceptedLicences(manifest, values['accept-licence'])
  console.error(`${manifest.name}: ${manifest.description}${formatSize(manifest)}`)

  const folder = modelsFolder()
  const progress = createFileProgress()
  const { pinnedFiles: pinned } = await installPack(folder, offer, {
    filesFolder: values.from,
    onProgress: progress.update,
    smokeTest: runSmokeTest,
  }).finally(progress.end)
  for (const file of pinned)
    console.error(`the checksum of ${file} was not known: it is now that of what has come`)
  const chosen = values.use ? await usePack(folder, manifest.name) : undefined
  const models = manifest.models.map(({ id, role }) => ({ model: `${manifest.name}/${id}`, role }))
  print({ installed: manifest.name, models, pinned, ...chosen }, values.json, () =>
    [
      `installed ${models.map(({ model, role }) => `${model} (${role})`).join(', ')}`,
      ...(chosen?.says ?? [`to look with it: facegate models use ${manifest.name}`]),
    ].join('\n'),
  )
}

/** @throws Error that names the licences that the user has not accepted. */
function requireAcceptedLicences({ name, models }: PackManifest, areAccepted: boolean): void {
  const doubtful = models.filter(({ licence }) => licence.commercialUse !== 'allowed')
  for (const { id, licence } of doubtful) {
    const verdict =
      licence.commercialUse === 'forbidden' ? 'FORBIDS business use' : 'does NOT CLEARLY ALLOW use'
    console.error(`WARNING: the licence of ${name}/${id} ${verdict}: "${licence.name}"`)
    if (licence.note !== undefined) console.error(`         ${licence.note}`)
  }
  if (doubtful.length > 0 && !areAccepted)
    throw new Error('nothing was installed: read the licence, then repeat with --accept-licence')
}

function formatSize(manifest: PackManifest): string {
  const bytes = totalSourceBytes(manifest)
  return bytes === null ? '' : ` (${(bytes / 1e6).toFixed(1)} MB)`
}

/** One bar for each file. */
function createFileProgress() {
  let bar = createProgressBar('kB')
  let current = ''
  let tenths = -1
  return {
    update: (file: string, done: number, total: number | null): void => {
      if (file !== current) {
        if (current !== '') bar.end()
        console.error(file)
        bar = createProgressBar('kB')
        current = file
        tenths = -1
      }
      // Without a terminal every tenth is a line of its own.
      const now = total === null ? 0 : Math.floor((10 * done) / total)
      if (now === tenths) return
      tenths = now
      bar.update(Math.ceil(done / 1000), Math.ceil((total ?? done) / 1000))
    },
    end: (): void => {
      if (current !== '') bar.end()
    },
  }
}
