package config

import (
	"path/filepath"
	"strings"
	"testing"
)

// A continuous copy goes to a folder that is not the data's; what is refused names the setting
// and what to do.
func TestWhereAContinuousCopyMayGo(t *testing.T) {
	const keys = "source_password: a-long-enough-password\nsync_token: a-long-enough-token\nstation_key: a-long-enough-key-of-a-station\n"
	dir := settingsFile(t, keys, 0o600)
	for value, want := range map[string]string{
		`""`: "", `/mnt/nas/athir`: "", dir + "-copy": "",
		`backups`: "must be an absolute path", `"/mnt/a\nb"`: "must be an absolute path",
		`sftp://nas.example/athir`: "mount it (sshfs, rclone mount, NFS)", `s3://bucket/athir`: "mount it (sshfs, rclone mount, NFS)",
		dir: "choose a folder on another disk", filepath.Join(dir, "copy"): "choose a folder on another disk", filepath.Join(dir, "x", "..", "media", "copy"): "choose a folder on another disk",
	} {
		cfg, _, err := Load(Source{DataDir: dir, Env: []string{"ATHIR_BACKUP_CONTINUOUS=" + strings.Trim(strings.ReplaceAll(value, `\n`, "\n"), `"`)}})
		switch {
		case want == "" && (err != nil || cfg.Backup.Continuous != strings.Trim(value, `"`)):
			t.Errorf("%s: %v", value, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), "backup.continuous: ") || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v", value, err)
		}
	}
}
