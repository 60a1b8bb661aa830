import type { BuiltinModel } from '../../../src/models/builtin/builtin-model.ts'
import manifest from '../../../src/models/template/manifest.json' with { type: 'json' }
import { builtinLicence, builtinPack } from '../../../src/models/builtin/builtin-pack.ts'
import { catalogue } from '../../../src/models/catalogue/catalogue.ts'
import type { Measurement, PackManifest, PackModel } from '../../../src/models/pack-manifest.ts'

/** `docs/models.md`: a card for every built-in model and every model of the catalogue. */
export function modelCards(): string {
  return `${[
    '# Model cards',
    introduction,
    '## Built in: `builtin`',
    'The weights are part of npm packages and are converted at the first start. Each package states ' +
      'one licence for the whole package and none for its weights. Several training sets have ' +
      'research-only terms. Clarify the licence before commercial use.',
    ...Object.values<BuiltinModel>(builtinPack.models).map(builtinCard),
    templateCard(),
    ...catalogue.flatMap(packSection),
  ].join('\n\n')}\n`
}

const introduction = `Generated from the manifests by \`npm run docs\`; do not edit.

Each card states the purpose of a network, its origin, the licence and training data as its source states them, measurements, and uses to avoid. [model-packs.md](recognition/model-packs.md) explains how to install a pack.

- Figures marked "quoted" were measured during the design of the service, on LFW, NUAA, UTKFace, FER2013 and 205 hand-labelled faces. No command of this repository repeats them; [accuracy.md](accuracy.md) and [benchmarks.md](benchmarks.md) contain figures with their commands.
- Times are for one thread of one machine. Compare them only with each other.
- Figures marked "held out" were measured once, on pictures that were not used for the fit. No command of this repository repeats them.
- Different error rates between groups of people were measured for the built-in recognizer and MobileFaceNet ([accuracy.md](accuracy.md#people-and-cameras-unlike-lfw)), for no other network. Measure with your own pictures before you use the results for decisions about people.`

function builtinCard(model: BuiltinModel): string {
  const { id, version, roles, source, artifact } = model
  const { provenance, input, outputs, measured, notFor } = model
  return card(`builtin/${id}`, [
    ['role', `${roles.join(', ')}; version ${version}`],
    ['origin', `${provenance.origin}; \`${source.package}\`, \`${source.weights.path}\``],
    ['stated licence; commercial use', `${builtinLicence(model)}; **unclear**`],
    ['training data', provenance.trainingData],
    ['input → outputs', `${inputOf(input)} → ${outputs.map(({ meaning }) => meaning).join('; ')}`],
    ['sha256', `\`${artifact.sha256}\``],
    ...measuredRows(measured),
    ['do not use for', notFor],
  ])
}

/** The card of the values that turn the embeddings of two networks into templates. */
function templateCard(): string {
  const { id, version, fitted, added, cohortRows, files } = manifest
  return card(`builtin/${id}`, [
    ['role', `template model of face_recognition and faceres: axes and cohort; version ${version}`],
    [
      'vectors and first rows of the cohort',
      `${fitted.set} (${fitted.pictures} pictures of ${fitted.people} people)`,
    ],
    ['added rows of the cohort', `${added.rows} of ${cohortRows}: ${added.origin}`],
    ['terms of the added rows', added.terms],
    ...Object.entries(added.files).map(([file, sha256]): [string, string] => [
      `sha256 of \`${file}\``,
      `\`${sha256}\``,
    ]),
    ['sha256 of the cohort', `\`${files.cohort}\``],
    ...measuredRows(templateMeasurements),
    [
      'do not use for',
      'Access control with the shipped table, without your own calibration, for children, for ' +
        'frames of one camera and for people unlike those of press photographs.',
    ],
  ])
}

/** The cohort that was measured is the shipped one; the threshold was read again on the same pictures. */
const templateMeasurements: readonly Measurement[] = [
  {
    what: 'TAR at 1e-4, 1e-5',
    on: 'LFW, other people than those of the fit, 23.7 million pairs of different people',
    value: '91.64, 80.58 %',
    how: 'held out',
  },
  {
    what: 'false-match rate at the same score as 1e-4 on LFW',
    on: 'NUAA, webcam frames of nine East-Asian people',
    value: '3.3e-4',
    how: 'held out',
  },
  {
    what: 'false-match rate of certain impostors; of a girl and a boy',
    on: 'UTKFace, at the same score',
    value: '1.2e-5; 2.8e-4',
    how: 'held out',
  },
]

function packSection(pack: PackManifest): string[] {
  return [
    `## Installable: \`${pack.name}\``,
    `${pack.description}\n\n\`\`\`sh skip="${whyNotRun(pack)}"\n${installCommand(pack)}\n\`\`\``,
    ...pack.models.map((model) => packCard(pack, model)),
  ]
}

function installCommand({ name, models }: PackManifest): string {
  const needsAcceptance = models.some(({ licence }) => licence.commercialUse !== 'allowed')
  const needsFiles = models.some(({ source }) => !source)
  const flags = [needsFiles ? ' --from <folder>' : '', needsAcceptance ? ' --accept-licence' : '']
  return `npx facegate models install ${name}${flags.join('')}`
}

/** The reason why the test of the documentation does not run the command. */
function whyNotRun({ models }: PackManifest): string {
  return models.some(({ source }) => !source)
    ? 'needs files that you bring'
    : 'fetches from a public address'
}

function packCard(pack: PackManifest, model: PackModel): string {
  const { id, version, role, source, licence, provenance, input } = model
  const note = licence.note === undefined ? '' : ` (${licence.note})`
  return card(`${pack.name}/${id}`, [
    ['role', `${role}; version ${version}`],
    ['origin', `${provenance.origin}${source ? `; <${source.url}>` : '; you provide the file'}`],
    ['stated licence; commercial use', `${licence.name}${note}; **${licence.commercialUse}**`],
    ['training data', provenance.trainingData],
    ['input', inputOf(input)],
    ['sha256', `\`${source?.sha256 ?? model.sha256 ?? 'pinned at the first installation'}\``],
    ...measuredRows(model.measured),
    ['do not use for', model.notFor ?? 'not stated'],
  ])
}

function inputOf(input: BuiltinModel['input'] | PackModel['input']): string {
  const { width, height, colourOrder } = input
  return `${width}×${height} px, ${colourOrder}`
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
