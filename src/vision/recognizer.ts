import { builtinPack } from '../models/builtin.ts'
import type { ModelSet } from '../models/pack.ts'
import { readTemplateModel } from '../models/template.ts'
import { cutChips } from './chips.ts'
import { describe } from './describe.ts'
import type { Descriptor } from './describe.ts'
import { openInstalledRecognizer } from './installed-recognizer.ts'
import type { Found, Scene } from './scene.ts'
import { providersOf } from './sessions.ts'
import type { Sessions } from './sessions.ts'
import { templateOf } from './template.ts'
import type { Template } from './view.ts'

/** Makes templates of faces, all of one model. */
export type Recognizer = {
  /** "id@version" of its templates; the built-in's are of several networks. */
  readonly modelId: string
  /** "id@version" of the networks. */
  readonly providers: string
  readonly template: (face: Found, scene: Scene) => Promise<Template>
}

export type Recognizers = {
  /** Makes the templates that are stored from now on. */
  readonly active: Recognizer
  /** Those of older templates, by `modelId`. */
  readonly former: ReadonlyMap<string, Recognizer>
}

/** What becomes of a descriptor: the shipped model's `templateOf`, or what a script wants to see. */
export type ToTemplate = (descriptor: Descriptor) => Template

/** @param toTemplate of the built-in recognizer; without it the shipped model's. */
export async function openRecognizers(
  { recognizer, formerRecognizers }: Pick<ModelSet, 'recognizer' | 'formerRecognizers'>,
  sessions: Sessions,
  toTemplate?: ToTemplate,
): Promise<Recognizers> {
  const open = (choice: ModelSet['recognizer']): Promise<Recognizer> =>
    choice === 'builtin'
      ? openBuiltin(sessions, toTemplate)
      : openInstalledRecognizer(choice, sessions)
  const former = await Promise.all(formerRecognizers.map(open))
  return {
    active: await open(recognizer),
    former: new Map(former.map((known) => [known.modelId, known])),
  }
}

async function openBuiltin(sessions: Sessions, toTemplate?: ToTemplate): Promise<Recognizer> {
  const model = await readTemplateModel()
  const make: ToTemplate = toTemplate ?? ((descriptor) => templateOf(descriptor, model))
  const networks = {
    dlib: await sessions.builtin('face_recognition'),
    faceres: await sessions.builtin('faceres'),
  }
  return {
    modelId: model.modelId,
    providers: providersOf([builtinPack.models.face_recognition, builtinPack.models.faceres]),
    async template({ mesh }, { pyramid, watch }) {
      const chips = await watch.time('align', () => cutChips(pyramid, mesh))
      return watch.time('embed', async () => make(await describe(networks, chips)))
    },
  }
}
