import { useApiQuery } from '../api/use-api.ts'
import { ChoiceFilter } from './filters.tsx'

type Props = {
  /** Only keys of this project, where one is chosen. */
  readonly projectId: string | undefined
  readonly value: string | undefined
  readonly onChange: (keyId: string | undefined) => void
}

/** A filter by API key, told by its name and last characters. */
export function KeyFilter({ projectId, value, onChange }: Props) {
  const keys = useApiQuery('/keys', { query: { projectId, limit: 200 } })
  const choices = (keys.data?.items ?? []).map((key) => ({
    value: key.keyId,
    label: `${key.name} …${key.last4}`,
  }))
  return <ChoiceFilter label="Key" value={value} options={choices} onChange={onChange} />
}
