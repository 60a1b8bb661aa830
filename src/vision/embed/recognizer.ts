import type { DetectedFace, ImageContext } from '../image-context.ts'
import type { QuickTemplate, Template } from './template.ts'

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
  /** Creates templates in two parts. Undefined if a template needs only one network. */
  readonly quick?: QuickRecognizer
}

/** The first part of a template suffices to recognize most frames of one recording. */
export type QuickRecognizer = {
  /** Runs the first network. */
  readonly startTemplate: (
    face: DetectedFace,
    context: ImageContext,
    options?: TemplateOptions,
  ) => Promise<StartedTemplate>
  /** Returns a similarity that the faces have at least, if they are certainly of one person. */
  readonly certainSimilarity: (a: QuickTemplate, b: QuickTemplate) => number | undefined
}

export type StartedTemplate = {
  readonly quickTemplate: QuickTemplate
  /** Runs the other networks and returns the same template as `createTemplate`. */
  readonly complete: () => Promise<Template>
}

type TemplateOptions = {
  /** Leaves out the mirror image of the face, which is half of the work. */
  readonly withoutMirror?: boolean
}
