import { Alert, List, Stack } from '@mantine/core'
import type { ActionValues } from './action-values.ts'
import type { ResultItem } from './envelope.ts'
import { FacesCard } from './faces-card.tsx'
import { FailureCard } from './failure-card.tsx'
import { LivenessCard } from './liveness-card.tsx'
import { IdentifyCard, VerifyCard } from './match-card.tsx'
import { DeleteCard, EnrollCard, UpdateCard } from './subject-card.tsx'

type Props = {
  readonly action: string
  readonly item: ResultItem
  /** Decides the result; undefined: the threshold of the call. */
  readonly threshold: number | undefined
  readonly remedyOf: (code: string) => string | undefined
}

/** The result of one image, or of the whole call, in words and bars. */
export function ResultCard({ action, item, threshold, remedyOf }: Props) {
  const { error, warnings = [] } = item.value
  if (!item.ok && error)
    return (
      <FailureCard title={`Image ${item.index} failed`} problems={[error]} remedyOf={remedyOf} />
    )
  return (
    <Stack gap="sm">
      <ValueCard action={action} item={item} threshold={threshold} />
      {warnings.length > 0 && (
        <Alert variant="default" title="Advice">
          <List size="sm">
            {warnings.map((warning) => (
              <List.Item key={warning}>{warning}</List.Item>
            ))}
          </List>
        </Alert>
      )}
    </Stack>
  )
}

/** The server validates each value with the schema of its action. */
function ValueCard({ action, item: { value, index }, threshold }: Omit<Props, 'remedyOf'>) {
  switch (action) {
    case 'svc.verify': {
      const result = value as ActionValues['svc.verify']
      return <VerifyCard value={result} threshold={threshold ?? result.threshold} />
    }
    case 'svc.identify': {
      // The probe of a stored search is not a face.
      const result = value as unknown as ActionValues['svc.identify']
      const decided = threshold ?? result.threshold
      return <IdentifyCard value={result} imageIndex={index} threshold={decided} />
    }
    case 'svc.liveness': {
      const result = value as ActionValues['svc.liveness']
      return <LivenessCard value={result} threshold={threshold ?? result.threshold} />
    }
    case 'svc.detect':
    case 'svc.analyze': {
      const { faces, faceCount } = value as ActionValues['svc.detect'] | ActionValues['svc.analyze']
      return <FacesCard faces={faces} faceCount={faceCount} imageIndex={index} />
    }
    case 'svc.attributes': {
      const { face, attributes } = value as ActionValues['svc.attributes']
      return <FacesCard faces={[{ ...face, attributes }]} faceCount={1} imageIndex={index} />
    }
    case 'svc.enroll':
      return <EnrollCard value={value as ActionValues['svc.enroll']} />
    case 'svc.updateSubject':
      return <UpdateCard value={value as unknown as ActionValues['svc.updateSubject']} />
    case 'svc.deleteSubject':
      return <DeleteCard value={value as unknown as ActionValues['svc.deleteSubject']} />
    default:
      return null
  }
}
