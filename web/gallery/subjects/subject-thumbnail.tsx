import { IconUser } from '@tabler/icons-react'
import { fileUrl } from '../../api/api.ts'
import { useApiQuery } from '../../api/use-api.ts'
import './subjects.css'

type Props = {
  readonly projectId: string
  readonly subjectId: string
  /** The face with a stored crop; undefined: a neutral placeholder is shown. */
  readonly faceId: string | undefined
  readonly sizePx: number
  /** Empty for a picture beside a name. */
  readonly alt?: string
}

/** The stored crop of a face, or a placeholder. */
export function SubjectThumbnail({ projectId, subjectId, faceId, sizePx, alt = '' }: Props) {
  const size = { width: sizePx, height: sizePx }
  if (faceId === undefined)
    return (
      <span className="fg-crop" style={size} aria-hidden>
        <IconUser size={sizePx * 0.6} />
      </span>
    )
  const src = cropUrl({ projectId, subjectId, faceId })
  return <img className="fg-crop" src={src} alt={alt} loading="lazy" {...size} style={size} />
}

const cropPath = '/projects/:projectId/subjects/:subjectId/faces/:faceId/crop'

/** Returns the address of the stored crop of a face. */
export function cropUrl(
  ids: Readonly<Record<'projectId' | 'subjectId' | 'faceId', string>>,
): string {
  return fileUrl(cropPath, ids)
}

/** Returns the faces with a stored crop of each subject, the best picture first. */
export function useCroppedFaces(
  projectId: string,
  subjectIds: readonly string[],
): ReadonlyMap<string, readonly string[]> {
  const query = useApiQuery('/projects/:projectId/cropped-faces', {
    pathParams: { projectId },
    query: { subjectIds: subjectIds.join(',') },
    enabled: subjectIds.length > 0,
  })
  const bySubject = Map.groupBy(query.data?.items ?? [], ({ subjectId }) => subjectId)
  return new Map(
    [...bySubject].map(([subjectId, faces]) => [subjectId, faces.map(({ faceId }) => faceId)]),
  )
}
