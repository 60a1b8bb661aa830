import { useApiQuery } from '../api/use-api.ts'
import { ChoiceFilter } from './filters.tsx'

type Props = {
  /** Limits the options to the keys of this project. */
  readonly projectId: string | undefined
  readonly value: string | undefined
  readonly onChange: (keyId: string | undefined) => void
}

/** A filter by API key. Each option shows the name and the last characters of a key. */
export function KeyFilter({ projectId, value, onChange }: Props) {
  const keys = useApiQuery('/keys', { query: { projectId, limit: 200 } })
  const options = (keys.data?.items ?? []).map((key) => ({
    value: key.keyId,
    label: `${key.name} …${key.last4}`,
  }))
  const label = keys.data?.nextCursor ? `Key (newest ${options.length})` : 'Key'
  return <ChoiceFilter label={label} value={value} options={options} onChange={onChange} />
}
