import { parseArgs } from 'node:util'
import { sourceBytes } from '../../models/install/files.ts'
import { installPack } from '../../models/install/install.ts'
import { findOffer } from '../../models/install/offer.ts'
import type { PackManifest } from '../../models/pack.ts'
import { probeApart } from '../../vision/probe-apart.ts'
import { print } from '../admin.ts'
import { UsageError } from '../command.ts'
import { progressBar } from '../progress.ts'
import { modelsFolder } from './folder.ts'
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
  const offer = await findOffer(wanted)
  const { manifest } = offer
  warnOfLicences(manifest, values['accept-licence'])
  console.error(`${manifest.name}: ${manifest.description}${size(manifest)}`)

  const folder = modelsFolder()
  const progress = fileProgress()
  const { pinned } = await installPack(folder, offer, {
    filesFolder: values.from,
    onProgress: progress.update,
    probe: probeApart,
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
function warnOfLicences({ name, models }: PackManifest, areAccepted: boolean): void {
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

function size(manifest: PackManifest): string {
  const bytes = sourceBytes(manifest)
  return bytes === null ? '' : ` (${(bytes / 1e6).toFixed(1)} MB)`
}

/** One bar for each file. */
function fileProgress() {
  let bar = progressBar('kB')
  let current = ''
  let tenths = -1
  return {
    update: (file: string, done: number, total: number | null): void => {
      if (file !== current) {
        if (current !== '') bar.end()
        console.error(file)
        bar = progressBar('kB')
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
