import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import path from 'node:path'
import { readFaceSet } from '../../evaluation/face-images.ts'
import { manifestFileName, packFolder, readPack } from '../../models/installed-packs.ts'
import { copyChecked } from '../../models/install/fetch-file.ts'
import { findPackSource } from '../../models/install/pack-source.ts'
import type { PackManifestInput, PackModel } from '../../models/pack-manifest.ts'
import { type CommandValues, UsageError } from '../command.ts'
import { runVerification, type QualifiedRecognizer } from '../evaluate/run-verification.ts'
import { percent } from '../evaluate/verification-text.ts'
import { modelsFolder } from '../read-settings.ts'
import { installSource } from './install.ts'

type QualifyValues = CommandValues<'onnx' | 'pictures' | 'name' | 'licence'> & {
  readonly dimensions: number
  readonly 'commercial-use': PackModel['licence']['commercialUse']
  readonly models: readonly string[]
}

/**
 * Installs a recognizer as a pack, measures and calibrates it on pictures, and writes the figures to
 * its manifest and a card. If that fails, nothing stays installed.
 */
export async function qualify(values: QualifyValues): Promise<void> {
  const { onnx, pictures, name, models, json } = values
  const folder = packFolder(modelsFolder(), name)
  if (existsSync(folder))
    throw new UsageError(
      `the pack ${name} is installed already; pass another --name, or remove it: facegate models remove ${name}`,
    )
  if (!existsSync(onnx)) throw new UsageError(`there is no file ${onnx}`)
  await readFaceSet(pictures)
  const startMs = performance.now()
  await installNetwork(values)
  try {
    const out = path.join(folder, 'curve.svg')
    const options = { source: pictures, out, calibrate: folder, models: [name, ...models], json }
    const qualified = await runVerification(options)
    await writeFigures(folder, { ...values, ...qualified }, startMs)
  } catch (error) {
    await rm(folder, { recursive: true })
    throw error
  }
  console.error(`qualified: ${folder} has card.md and curve.svg; facegate models use ${name}`)
}

/** Installs the network as ArcFace networks are published: 112×112 px, RGB, −1..1. */
async function installNetwork({ onnx, name, dimensions, ...values }: QualifyValues) {
  const source = await mkdtemp(path.join(tmpdir(), 'facegate-qualify-'))
  try {
    const manifest: PackManifestInput = {
      schema: 1,
      name,
      description: 'A recognizer that was qualified on pictures of this installation',
      models: [
        {
          id: name,
          version: '1',
          role: 'recognizer',
          file: `${name}.onnx`,
          licence: { name: values.licence, commercialUse: values['commercial-use'] },
          provenance: { origin: path.basename(onnx), trainingData: 'not stated' },
          input: {
            width: 112,
            height: 112,
            colourOrder: 'RGB',
            mean: [127.5, 127.5, 127.5],
            scale: 1 / 127.5,
          },
          decoding: { kind: 'arcface', dimensions },
        },
      ],
    }
    await copyChecked(onnx, path.join(source, `${name}.onnx`), null)
    await writeFile(path.join(source, manifestFileName), JSON.stringify(manifest))
    await installSource(await findPackSource(source))
  } finally {
    await rm(source, { recursive: true })
  }
}

type Figures = QualifiedRecognizer & Pick<QualifyValues, 'onnx' | 'pictures' | 'models'>

async function writeFigures(folder: string, figures: Figures, startMs: number): Promise<void> {
  const { report, heldOut, onnx, pictures, models } = figures
  const set = path.basename(pictures)
  const on = `${set}: ${report.pictures} pictures of ${report.people} people`
  const options = models.map((model) => ` --models ${model}`).join('')
  const how = `facegate models qualify ${path.basename(onnx)} --pictures ${set}${options}`
  const seconds = ((performance.now() - startMs) / 1000).toFixed(0)
  const values = {
    'pictures without a template': report.unusable.length,
    'area under the curve': report.corrected.allPairs.areaUnderCurve.toFixed(5),
    ...Object.fromEntries(
      heldOut.flatMap(({ fmr, tar, tarInCohort }) => [
        [`TAR at FMR ${fmr.toExponential(0)}, people outside of the cohort`, percent(tar)],
        [`TAR at FMR ${fmr.toExponential(0)}, the same people in the cohort`, percent(tarInCohort)],
      ]),
    ),
    [`duration on ${availableParallelism()} cores`]: `${seconds} s`,
  }
  const measured = Object.entries(values).map(([what, value]) => {
    return { what, on, value: String(value), how }
  })
  const { manifest } = await readPack(folder)
  const qualified = manifest.models.map((model) => ({ ...model, measured }))
  const text = JSON.stringify({ ...manifest, models: qualified }, null, 2)
  await writeFile(path.join(folder, manifestFileName), `${text}\n`)
  await writeFile(path.join(folder, 'card.md'), qualified.map(formatCard).join('\n'))
}

function formatCard({ id, version, licence, provenance, sha256, measured }: PackModel): string {
  const rows = [
    ['role', `recognizer; version ${version}`],
    ['origin', provenance.origin],
    ['stated licence; commercial use', `${licence.name}; **${licence.commercialUse}**`],
    ['sha256', `\`${sha256}\``],
    ...measured.map(({ what, on, value }) => ['measured', `${what}, on ${on}: **${value}**`]),
  ]
  return `# ${id}\n\n| | |\n|---|---|\n${rows.map((row) => `| ${row.join(' | ')} |\n`).join('')}`
}
