import { Button, Modal, Select, Stack } from '@mantine/core'
import { useState } from 'react'
import { useHasRole } from '../../api/session.ts'
import { useApiQuery } from '../../api/use-api.ts'
import { MeasurementSection } from './measurement-section.tsx'

/** Opens the calibration of a gallery. */
export function CalibrateButton() {
  const mayWrite = useHasRole('admin')
  const [isOpen, setIsOpen] = useState(false)
  if (!mayWrite) return null
  return (
    <>
      <Button size="xs" variant="default" onClick={() => setIsOpen(true)}>
        Calibrate a gallery
      </Button>
      {isOpen && <CalibrateDialog onClose={() => setIsOpen(false)} />}
    </>
  )
}

function CalibrateDialog({ onClose }: { readonly onClose: () => void }) {
  const projects = useApiQuery('/projects')
  const [projectId, setProjectId] = useState<string | null>(null)
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
          value={projectId}
          data={(projects.data?.items ?? []).map(({ projectId: value, name: label }) => ({
            value,
            label,
          }))}
          onChange={setProjectId}
        />
        {project && (
          <MeasurementSection key={project.projectId} project={project} onApplied={onClose} />
        )}
      </Stack>
    </Modal>
  )
}
