import type { DetectedFace, ImageContext } from '../image-context.ts'
import type { QuickTemplate, Template } from './template.ts'

/** Creates templates of one model. */
export type Recognizer = {
  /** "id@version" of its templates. The built-in template model combines several networks. */
  readonly modelId: string
  readonly createTemplate: CreateFrom<Template>
  /**
   * Runs the first network, which suffices to recognize most frames of one recording. Undefined if a
   * template needs only one network.
   */
  readonly startTemplate?: StartTemplate
}

export type StartTemplate = CreateFrom<StartedTemplate>

type CreateFrom<Result> = (
  face: DetectedFace,
  context: ImageContext,
  options?: TemplateOptions,
) => Promise<Result>

type StartedTemplate = {
  readonly quickTemplate: QuickTemplate
  /** Runs the other networks and returns the same template as `createTemplate`. */
  readonly complete: () => Promise<Template>
}

type TemplateOptions = {
  /** Leaves out the mirror image of the face, which is half of the work. */
  readonly withoutMirror?: boolean
}
