import type { Generated } from 'kysely'

/** A set of subjects that are searched together: one project's, or an account's shared gallery. */
export type GalleryRow = {
  /** The id of the project, or of the account; for their visitors see `visitorsGalleryId`. */
  readonly galleryId: string
  readonly accountId: string
  /** The number of the last change. Each transaction that changes templates increments it. */
  readonly sequence: Generated<number>
  readonly subjectCount: Generated<number>
  /** The number of faces; several templates of one face, by different models, count once. */
  readonly templateCount: Generated<number>
  /** Records of faces removed up to this change may have been deleted. A trigger maintains it. */
  readonly removalsDeletedTo: Generated<number>
}

/** A key that encrypts subject keys. The master key, which is not stored here, encrypts it. */
export type GalleryKeyRow = {
  readonly keyId: string
  readonly galleryId: string
  readonly masterKeyId: string
  readonly wrapped: Uint8Array
  readonly createdAtMs: number
}

/** A calibration table that was measured on a gallery. It stays as history after its use. */
export type GalleryCalibrationRow = {
  readonly calibrationId: string
  readonly galleryId: string
  /** The table applies only to scores of this model. */
  readonly modelId: string
  readonly subjects: number
  /** The number of compared pairs of templates of different subjects. */
  readonly pairs: number
  /** The table, a JSON object. */
  readonly definition: string
  readonly appliedAtUtc: string
  /** The name of the console user, or `command line`. */
  readonly appliedBy: string
  /** Null: in use. */
  readonly endedAtUtc: string | null
  readonly endedBy: string | null
}

export type SubjectRow = {
  readonly subjectId: string
  readonly galleryId: string
  /** The project that enrolled the subject; its retention applies. */
  readonly projectId: string
  readonly externalId: string | null
  readonly displayName: string | null
  /** A JSON object from the caller. */
  readonly attributes: string
  /** The gallery key that encrypts this subject's key. */
  readonly keyId: string
  readonly wrappedKey: Uint8Array
  readonly createdAtUtc: string
  readonly updatedAtUtc: string
  readonly expiresAtUtc: string | null
  /** The time of the last enrollment or match, updated at most once a day. */
  readonly lastSeenAtUtc: string
  /** 1: created without a face, and none was added since. Any other subject must have a face. */
  readonly withoutFaces: 0 | 1
  /** 0: no template of a denied match of the subject is stored. A new row gets 0. */
  readonly hasDenials?: 0 | 1 | undefined
  /** JSON array: the ids of the subjects and visitors whose faces it received. A new row gets none. */
  readonly formerIds?: string | undefined
  /** Of a visitor, an unknown person: the number of pictures. Null or absent: an enrolled subject. */
  readonly visitCount?: number | null | undefined
  /** 1: no events are sent for the visitor. */
  readonly isIgnored?: 0 | 1 | undefined
}

/** Only key rotation reads this column of a subject. */
export type SubjectKeyFlag = {
  /** 1: data that was encrypted with the subject's key was deleted since the key was created. */
  readonly needsNewKey: Generated<0 | 1>
}

/** Only `store/gallery` writes this column of a subject, together with the names. */
export type SubjectSearchText = {
  /** See `search-text.ts`. */
  readonly searchText: Generated<string>
}

/** Two subjects of which a user has confirmed that they are different people. */
export type DistinctSubjectsRow = {
  readonly galleryId: string
  /** The smaller id of both. */
  readonly subjectId: string
  readonly otherId: string
  readonly decidedAtUtc: string
  /** The name of the console user, or `command line`. */
  readonly decidedBy: string
}

/** A merge of two subjects that can be undone. */
export type SubjectMergeRow = {
  readonly mergeId: string
  readonly galleryId: string
  /** The subject that remains. */
  readonly subjectId: string
  readonly mergedAtMs: number
  /** The end of the time in which the merge can be undone. The row is deleted then. */
  readonly expiresAtMs: number
  /** JSON: each group of the deleted subject, and whether the merge added `subjectId` to it. */
  readonly memberships: string
  /** Other data of the deleted subject and the ids of its faces, encrypted with the key of `subjectId`. */
  readonly ciphertext: Uint8Array
}

/** A subject that faces matched. */
export type MatchedSubjectRow = {
  /** The id that the subject had at these matches. */
  readonly matchedId: string
  readonly galleryId: string
  /** The subject that has the matches now: a merge and its undo change it. */
  readonly subjectId: string
}

/** A match of svc.identify as it is stored: `matchedSubjects` has its subject. */
export type StoredMatchRow = Omit<MatchVerdictRow, 'subjectId'> &
  Pick<MatchedSubjectRow, 'matchedId'>

/** A match of svc.identify that can be confirmed or denied, or that was. */
export type MatchVerdictRow = {
  readonly verdictId: string
  readonly galleryId: string
  /** The project of the call. */
  readonly projectId: string
  /** The subject that the face matched, or the one that it was merged into. */
  readonly subjectId: string
  readonly requestId: string
  readonly resultIndex: number
  readonly faceIndex: number
  readonly modelId: string
  /** The template of the searched face, encrypted with the key of the subject; null if confirmed. */
  readonly ciphertext: Uint8Array | null
  readonly matchedAtMs: number
  /** Until when the match can be confirmed or denied; null after that. */
  readonly expiresAtMs: number | null
  /** Null until the match is confirmed or denied. */
  readonly verdict: MatchVerdict | null
}

export type MatchVerdict = 'confirmed' | 'denied'

/** The face of a call of svc.identify or svc.verify that nearly matched a subject. */
export type NearMissCropRow = Omit<CropRow, 'faceId'> & {
  readonly cropId: string
  /** The subject that it nearly matched. */
  readonly subjectId: string
  readonly requestId: string
  readonly storedAtMs: number
  /** The row is deleted then. */
  readonly expiresAtMs: number
}

/** How many calls of a project have matched a subject on a day, for projects that count matches. */
export type MatchDayRow = {
  readonly subjectId: string
  readonly projectId: string
  /** In UTC, as `2026-11-29`. */
  readonly day: string
  readonly matches: number
}

/** A stored face of a subject, from one image. */
export type FaceRow = {
  readonly faceId: string
  readonly subjectId: string
  readonly galleryId: string
  /** The gallery change that last affected the face, its templates or its subject's groups. */
  readonly sequence: number
  readonly qualityScore: number
  readonly createdAtUtc: string
}

/** The embedding of a face by one model; a face has at most one template of each model. */
export type TemplateRow = {
  readonly faceId: string
  /** The gallery of the face. */
  readonly galleryId: string
  readonly modelId: string
  /** Encrypted under the subject's key. */
  readonly ciphertext: Uint8Array
}

/**
 * An encrypted copy of the templates of the faces whose last changes are in a range, by which they are
 * compared. The ranges of a gallery never overlap. Triggers delete a page when one of its faces changes.
 */
export type GalleryPageRow = {
  readonly galleryId: string
  /** The range: after one change of the gallery, up to another one. */
  readonly afterSequence: number
  readonly toSequence: number
  /** The number of faces in the range, each with one template. */
  readonly faces: number
  /** The models by which faces were compared when the page was written. */
  readonly modelIds: string
  /** The gallery key that encrypts the key of the page. */
  readonly keyId: string
  readonly wrappedKey: Uint8Array
  readonly ciphertext: Uint8Array
}

/** The stored crop of a face, for projects that store crops. */
export type CropRow = {
  readonly faceId: string
  /** The project that stored it. */
  readonly projectId: string
  /** A JPEG, encrypted under the subject's key. */
  readonly ciphertext: Uint8Array
}

export type SubjectGroupRow = {
  readonly galleryId: string
  readonly name: string
  readonly subjectId: string
}

/**
 * A top-level attribute of a subject whose value is a text, a boolean or a whole number, for lists.
 * Triggers maintain it.
 */
export type SubjectAttributeRow = {
  readonly galleryId: string
  readonly name: string
  readonly value: string
  readonly subjectId: string
}

/** A subject that lost faces, so that copies of the gallery in memory remove them. */
export type RemovalRow = {
  readonly galleryId: string
  readonly sequence: number
  readonly subjectId: string
}

/** The permanent deletion record of a subject and its place in the account's hash chain. */
export type DeletionRow = {
  readonly seq: Generated<number>
  readonly deletionId: string
  readonly galleryId: string
  readonly accountId: string
  readonly subjectId: string
  /** The subject that received the faces by a merge; null: they were deleted. */
  readonly mergedInto: string | null
  /** JSON array: the ids of merged subjects whose faces were deleted with the subject. */
  readonly formerIds: string
  /** JSON array of names. */
  readonly groups: string
  readonly externalId: string | null
  readonly embeddingCount: number
  readonly deletedAtUtc: string
  /** SHA-256 of the account's previous hash and this row. */
  readonly rowHash: Uint8Array
}

/** The key with which an account signs certificates of its deletions. */
export type CertificateKeyRow = Pick<GalleryKeyRow, 'masterKeyId' | 'wrapped'> & {
  readonly accountId: string
  /** 32 bytes in base64url, as the member `x` of a JSON Web Key. */
  readonly publicKey: string
}

/** The last row of an account's hash chain. Triggers update it. */
export type ChainHeadRow = {
  readonly chain: 'deletions' | 'auditLog'
  readonly accountId: string
  /** The number of rows that were added. */
  readonly headSeq: number
  readonly headHash: Uint8Array
}
