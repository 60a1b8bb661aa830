import { useApiQuery } from '../api/use-api.ts'
import { ChoiceFilter, FilterBar, TextFilter } from '../lists/filters.tsx'
import { KeyFilter } from '../lists/key-filter.tsx'
import { PeriodFilter } from '../lists/period-filter.tsx'
import type { TextSearchParams } from '../app/search-params.ts'

type LogFilterValues = TextSearchParams<
  'projectId' | 'keyId' | 'action' | 'code' | 'fromUtc' | 'toUtc' | 'requestId'
>

type Props = {
  readonly filters: LogFilterValues
  readonly onChange: (change: LogFilterValues) => void
  readonly onClear: () => void
}

/** Filters by project, key, action, error code, period and request id. */
export function LogFilters({ filters, onChange, onClear }: Props) {
  const { projectId, keyId, action, code, fromUtc, toUtc, requestId } = filters
  const projects = useApiQuery('/projects')
  const actions = useApiQuery('/actions')
  const errors = useApiQuery('/errors')
  return (
    <FilterBar onClear={onClear}>
      <ChoiceFilter
        label="Project"
        value={projectId}
        options={(projects.data?.items ?? []).map((project) => ({
          value: project.projectId,
          label: project.name,
        }))}
        onChange={(value) => onChange({ projectId: value, keyId: undefined })}
      />
      <KeyFilter
        projectId={projectId}
        value={keyId}
        onChange={(value) => onChange({ keyId: value })}
      />
      <ChoiceFilter
        label="Action"
        value={action}
        options={(actions.data ?? []).map(({ name }) => name)}
        onChange={(value) => onChange({ action: value })}
      />
      <ChoiceFilter
        label="Error code"
        value={code}
        options={(errors.data ?? []).map((error) => error.code)}
        onChange={(value) => onChange({ code: value })}
      />
      <PeriodFilter fromUtc={fromUtc} toUtc={toUtc} onChange={onChange} />
      <TextFilter
        label="Request id"
        value={requestId}
        placeholder="Full id"
        onChange={(value) => onChange({ requestId: value })}
      />
    </FilterBar>
  )
}
