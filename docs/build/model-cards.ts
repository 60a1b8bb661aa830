import { builtinPack } from '../../src/models/builtin/builtin-pack.ts'
import { catalogue } from '../../src/models/catalogue/catalogue.ts'
import type { BuiltinModel } from '../../src/models/builtin/builtin-model.ts'
import type { Measurement, PackManifest, PackModel } from '../../src/models/pack-manifest.ts'

/** `docs/models.md`: the cards of all built-in models and of the catalogue. `npm run docs` writes it. */
export function modelCards(): string {
  return `${[
    '# Model cards',
    introduction,
    '## Built in: `builtin`',
    'Weights out of the npm packages, converted at the first start. Both packages state one licence ' +
      'as a whole and none for a weight; several training sets carry research terms. Ask before you ' +
      'rely on it in business.',
    ...Object.values<BuiltinModel>(builtinPack.models).map(builtinCard),
    ...catalogue.flatMap(packSection),
  ].join('\n\n')}\n`
}

const introduction = `Made of the manifests by \`npm run docs\`; do not edit.

What each network is for, where it comes from, what its source says of licence and training data, what was measured, and what it must not be used for. "Quoted" figures were measured while the service was designed, on LFW, NUAA, UTKFace, FER2013 and 205 hand-labelled faces, and are not repeated by a command of this repository; [accuracy.md](accuracy.md) and [benchmarks.md](benchmarks.md) have those that are. Times are for one thread of one machine: compare them with each other only. [packs.md](packs.md) says how to install a pack.

None of these networks was tested for how its errors differ between groups of people. Measure on pictures of your own before you decide anything about anybody.`

function builtinCard({
  id,
  version,
  roles,
  source,
  artifact: product,
  ...entry
}: BuiltinModel): string {
  const { provenance, input, outputs, measured, notFor } = entry
  return card(`builtin/${id}`, [
    ['does', roles.join(', ')],
    ['version', version],
    ['from', `${provenance.origin}; \`${source.package}\`, \`${source.weights.path}\``],
    ['licence as stated', provenance.licence],
    ['business use', 'unclear'],
    ['training data', provenance.trainingData],
    ['takes', `${input.width}×${input.height} px, ${input.colourOrder}`],
    ['gives', outputs.map(({ meaning }) => meaning).join('; ')],
    ['sha256', `\`${product.sha256}\``],
    ...measuredRows(measured),
    ['not for', notFor],
  ])
}

function packSection(pack: PackManifest): string[] {
  return [
    `## To be installed: \`${pack.name}\``,
    `${pack.description}\n\n\`\`\`sh skip="${whyNotRun(pack)}"\n${command(pack)}\n\`\`\``,
    ...pack.models.map((model) => packCard(pack, model)),
  ]
}

function command({ name, models }: PackManifest): string {
  const isDoubtful = models.some(({ licence }) => licence.commercialUse !== 'allowed')
  const isAtHand = models.some(({ source }) => !source)
  const flags = [isAtHand ? ' --from <folder>' : '', isDoubtful ? ' --accept-licence' : '']
  return `npx facegate models install ${name}${flags.join('')}`
}

/** The test of the documentation runs every block that does not say why it cannot be run. */
function whyNotRun({ models }: PackManifest): string {
  return models.some(({ source }) => !source)
    ? 'needs files that you bring'
    : 'fetches from a public address'
}

function packCard(pack: PackManifest, model: PackModel): string {
  const { id, version, role, source, licence, provenance, input } = model
  const note = licence.note === undefined ? '' : ` (${licence.note})`
  return card(`${pack.name}/${id}`, [
    ['does', role],
    ['version', version],
    ['from', `${provenance.origin}${source ? `; <${source.url}>` : '; bring the file'}`],
    ['licence as stated', `${licence.name}${note}`],
    ['business use', licence.commercialUse],
    ['training data', provenance.trainingData],
    ['takes', `${input.width}×${input.height} px, ${input.colourOrder}`],
    ['sha256', `\`${source?.sha256 ?? model.sha256 ?? 'pinned when it is installed'}\``],
    ...measuredRows(model.measured),
    ['not for', model.notFor ?? 'not stated'],
  ])
}

function measuredRows(measured: readonly Measurement[]): (readonly [string, string])[] {
  if (measured.length === 0) return [['measured', 'nothing yet']]
  return measured.map(({ what, on, value, how }) => [
    'measured',
    `${what}, on ${on}: **${value}** (${how})`,
  ])
}

function card(title: string, rows: readonly (readonly [string, string])[]): string {
  const cells = rows.map(([name, value]) => `| ${name} | ${value.replaceAll('|', '\\|')} |`)
  return [`### ${title}`, '', '| | |', '|---|---|', ...cells].join('\n')
}
