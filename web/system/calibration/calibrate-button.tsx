import { Button, Modal, Select, Stack } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useHasRole } from '../../api/session.ts'
import { useApiQuery } from '../../api/use-api.ts'
import { MeasurementSection } from './measurement-section.tsx'

const route = getRouteApi('/models')

/** The value of the URL before a project is selected. */
const noProject = 'select'

/** Opens the calibration of a gallery. The URL contains its project, so that a reload keeps it open. */
export function CalibrateButton() {
  const mayWrite = useHasRole('admin')
  const { calibrate } = route.useSearch()
  const navigate = route.useNavigate()
  const open = (value: string | undefined): void =>
    void navigate({ search: (old) => ({ ...old, calibrate: value }), replace: value === undefined })
  if (!mayWrite) return null
  return (
    <>
      <Button size="xs" variant="default" onClick={() => open(noProject)}>
        Calibrate a gallery
      </Button>
      {calibrate !== undefined && (
        <CalibrateDialog projectId={calibrate} onSelect={open} onClose={() => open(undefined)} />
      )}
    </>
  )
}

type Props = {
  readonly projectId: string
  readonly onSelect: (projectId: string) => void
  readonly onClose: () => void
}

function CalibrateDialog({ projectId, onSelect, onClose }: Props) {
  const projects = useApiQuery('/projects')
  const project = projects.data?.items.find((item) => item.projectId === projectId)
  return (
    <Modal
      opened
      size="xl"
      onClose={onClose}
      title="Calibrate a gallery"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack>
        <Select
          label="Project of the gallery"
          placeholder="Select a project"
          searchable
          value={project?.projectId ?? null}
          data={(projects.data?.items ?? []).map(({ projectId: value, name: label }) => ({
            value,
            label,
          }))}
          onChange={(value) => onSelect(value ?? noProject)}
        />
        {project && (
          <MeasurementSection key={project.projectId} project={project} onApplied={onClose} />
        )}
      </Stack>
    </Modal>
  )
}
