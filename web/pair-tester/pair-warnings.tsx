import { Alert, List } from '@mantine/core'
import { warningsOf, type ComparedFace } from './face-warnings.ts'

type Props = { readonly faces: readonly (ComparedFace | null)[] }

/** What makes the comparison less reliable. */
export function PairWarnings({ faces }: Props) {
  const warnings = faces.flatMap((face, index) => (face ? warningsOf(face, index) : []))
  if (warnings.length === 0) return null
  return (
    <Alert variant="default" title="The result is less reliable">
      <List size="sm">
        {warnings.map((warning) => (
          <List.Item key={warning}>{warning}</List.Item>
        ))}
      </List>
    </Alert>
  )
}
