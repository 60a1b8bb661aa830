import type { DetectedFace, ImageContext } from '../image-context.ts'
import type { Template } from './template.ts'

/** Creates templates of one model. */
export type Recognizer = {
  /** "id@version" of its templates. The built-in template model combines several networks. */
  readonly modelId: string
  /** "id@version" of the networks, joined by "+". */
  readonly providers: string
  readonly createTemplate: (
    face: DetectedFace,
    context: ImageContext,
    options?: TemplateOptions,
  ) => Promise<Template>
  /** Earlier versions of the model with the same vectors. */
  readonly earlierVersions: readonly EarlierVersion[]
}

type TemplateOptions = {
  /** Leaves out the mirror image of the face, which is half of the work. */
  readonly withoutMirror?: boolean
}

/** A version that only the density of its templates differs from. */
export type EarlierVersion = {
  readonly modelId: string
  /** Converts a template of the recognizer, without a network. */
  readonly fromTemplate: (template: Template) => Template
}
