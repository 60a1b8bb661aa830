import type {
  Actions,
  Candidate,
  DeleteSubjectValue,
  EnrollParams,
  EnrollValue,
  IdentifyParams,
  IdentifyValue,
  ImageFacts,
  LivenessParams,
  LivenessValue,
  OneImageActions,
  UpdateSubjectParams,
  UpdateSubjectValue,
  VerifyParams,
  VerifyValue,
} from '../contract.ts'
import type { ActionName, ActionResponse, ItemResult } from './read-envelope.ts'
import type { CallOptions } from '../options.ts'
import type { FailureMode, CallResult } from './failure-mode.ts'

export type OneImageCalls<Image, M extends FailureMode> = {
  readonly [Name in Exclude<keyof OneImageActions, 'enroll'>]: OneImageMethod<
    Image,
    M,
    Omit<OneImageActions[Name]['params'], 'images'>,
    OneImageActions[Name]['value']
  >
}

type OneImageMethod<Image, M extends FailureMode, Params, Value> = {
  (image: Image, params?: Params, options?: CallOptions): CallResult<M, Value>
  /**
   * Returns one result for each image, with `allImages`, and costs as many calls. The call fails only if
   * every image fails.
   */
  (
    images: readonly Image[],
    params?: Omit<Params, 'allImages'> & { readonly allImages?: true | undefined },
    options?: CallOptions,
  ): CallResult<M, readonly ItemResult<Value>[]>
}

/** A subject by exactly one of its ids. */
export type SubjectReference =
  | { readonly subjectId: string; readonly externalId?: undefined }
  | { readonly externalId: string; readonly subjectId?: undefined }

export type EnrollOptions = Omit<EnrollParams, 'images' | 'allImages'> & {
  /** A list of images implies it. */
  readonly allImages?: true | undefined
}
/** A stored face to search with: one face, or all faces of a subject. */
export type StoredFaceReference =
  | { readonly subjectId: string }
  | { readonly externalId: string }
  | { readonly faceId: string }

export type IdentifyOptions = Omit<IdentifyParams, 'images' | 'subjectId' | 'externalId' | 'faceId'>
export type StoredSearchOptions = Pick<IdentifyParams, 'maxCandidates' | 'threshold' | 'groups'>

/** The result of a search with an image. */
export type ImageSearchValue = Omit<IdentifyValue, 'image' | 'probe' | 'candidates'> & {
  image: ImageFacts
}
/** The result of a search with a stored face. */
export type StoredSearchValue = Omit<IdentifyValue, 'image' | 'faces' | 'probe' | 'candidates'> & {
  /** The subject, which is not searched, and the faces that were used. */
  probe: { subjectId: string; faceIds: string[] }
  /** The subjects that match, best first. */
  candidates: Candidate[]
}
export type VerifyOptions = Omit<
  VerifyParams,
  'images' | 'mode' | 'subjectId' | 'externalId' | 'sameSubject'
>
export type LivenessFrameOptions = Omit<LivenessParams, 'images' | 'livenessSessionId'>
export type SubjectChanges<Image> = Omit<UpdateSubjectParams, 'subjectId' | 'images'> & {
  /** Adds a template, with the same checks as enrollment. */
  readonly image?: Image | undefined
}

/** The actions. Each call has a `requestId`, so that it runs and is charged only once. */
export interface ActionCalls<Image, M extends FailureMode> extends OneImageCalls<Image, M> {
  /**
   * Enroll the face of an image as a new subject, or add it to an existing subject. Several images of
   * one person become several templates of the subject; `images` of the result reports each of them.
   * Costs 2 units per enrolled image.
   */
  readonly enroll: (
    images: Image | readonly Image[],
    params?: EnrollOptions,
    options?: CallOptions,
  ) => CallResult<M, EnrollValue>
  /** Compare a face with another image, or with a subject of the gallery. */
  readonly verify: VerifyMethod<Image, M>
  /**
   * Search the gallery for the faces of one image or of up to ten, or for a stored face. Costs 2 units
   * per image, and 2 for a stored face.
   */
  readonly identify: IdentifyMethod<Image, M>
  /**
   * Verify the frames of an attempt in a liveness session, in the order of recording, the first one
   * frontal. Costs 2 units.
   */
  readonly sendLivenessFrames: (
    sessionId: string,
    frames: readonly [Image, ...Image[]],
    params?: LivenessFrameOptions,
    options?: CallOptions,
  ) => CallResult<M, LivenessValue>
  /** Change a subject, given by its `subjectId` or an object with one of its ids: ids, attributes, groups, templates, expiry. Free without an image. */
  readonly updateSubject: (
    subject: string | SubjectReference,
    changes: SubjectChanges<Image>,
    options?: CallOptions,
  ) => CallResult<M, UpdateSubjectValue>
  /**
   * Delete a subject, given as for `updateSubject`, permanently. Its deletion record is kept. Free. An
   * external id is resolved first, which needs the permission `subjects:read`.
   */
  readonly deleteSubject: (
    subject: string | SubjectReference,
    options?: CallOptions,
  ) => CallResult<M, DeleteSubjectValue>
  /** Run any action, with the parameters and results of the HTTP API. */
  readonly execute: <Name extends ActionName>(
    action: Name,
    params: Actions[Name]['params'],
    options?: CallOptions,
  ) => CallResult<M, ActionResponse<Actions[Name]['value']>>
}

export type VerifyMethod<Image, M extends FailureMode> = {
  /** Costs 2 units. */
  (
    probe: Image,
    reference: Image | SubjectReference,
    params?: VerifyOptions,
    options?: CallOptions,
  ): CallResult<M, VerifyValue>
  /**
   * Compares two to ten images of one person, merged into one probe, with a subject. Costs 2 units
   * per image.
   */
  (
    probes: readonly Image[],
    subject: SubjectReference,
    params?: VerifyOptions & { readonly sameSubject?: true | undefined },
    options?: CallOptions,
  ): CallResult<M, VerifyValue>
}

export type IdentifyMethod<Image, M extends FailureMode> = {
  /** Searches for a stored face among all other subjects. */
  (
    stored: StoredFaceReference,
    params?: StoredSearchOptions,
    options?: CallOptions,
  ): CallResult<M, StoredSearchValue>
  (image: Image, params?: IdentifyOptions, options?: CallOptions): CallResult<M, ImageSearchValue>
  /** Merges two to ten images of one person into one probe with one result. */
  (
    images: readonly Image[],
    params: IdentifyOptions & { readonly sameSubject: true },
    options?: CallOptions,
  ): CallResult<M, ImageSearchValue>
  /** Returns one result for each image. The call fails only if every image fails. */
  (
    images: readonly Image[],
    params?: IdentifyOptions & { readonly sameSubject?: false | undefined },
    options?: CallOptions,
  ): CallResult<M, readonly ItemResult<ImageSearchValue>[]>
}
