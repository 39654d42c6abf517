package importtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Dump is what mariadb-dump 11 writes of the database.
func (a *Azura) Dump() []byte {
	d := &dumped{}
	d.WriteString("/*M!999999\\- enable the sandbox mode */ \n-- MariaDB dump 10.19-11.4.2-MariaDB, for debian-linux-gnu (x86_64)\n--\n" +
		"-- Host: localhost    Database: azuracast\n-- ------------------------------------------------------\n" +
		"/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;\n/*!40101 SET NAMES utf8mb4 */;\n/*!40103 SET TIME_ZONE='+00:00' */;\n" +
		"/*M!100616 SET @OLD_NOTE_VERBOSITY=@@NOTE_VERBOSITY, NOTE_VERBOSITY=0 */;\n\n")
	d.table("listener", []string{"id int(11)", "listener_ip varchar(45)", "listener_user_agent varchar(255)"}, [][]any{{1, "192.0.2.7", `Mozilla/5.0 (it's); "x"`}, {2, "192.0.2.8", "x"}})
	d.table("settings", []string{"app_unique_identifier uuid", "base_url varchar(255)"}, [][]any{{"4c1c9d60-0000-4000-8000-000000000001", "https://radio.example.org"}})
	d.table("song_history", []string{"id int(11)", "text varchar(512)", "delta_points longtext"}, [][]any{{1, "أغنية); INSERT INTO `station` VALUES (9,'no');", "[1,2]"}})
	var stations, storages, media, lists, items, times, streamers, hooks [][]any
	for _, s := range a.Stations {
		stations = append(stations, []any{s.ID, s.Name, s.Short, 1, "icecast", `{"port":8000}`, "/var/azuracast/stations/" + s.Short, s.Zone, s.Storage()})
		storages = append(storages, []any{s.Storage(), "station_media", "local", "/var/azuracast/stations/" + s.Short + "/media"})
		for _, m := range s.Media {
			media = append(media, []any{m.ID, s.Storage(), fmt.Sprintf("%024x", m.ID), "song" + strconv.Itoa(m.ID), m.Artist + " - " + m.Title, m.Artist, m.Title, orNull(m.Album), orNull(m.Genre), nil, nil, m.Length, m.Path, 1700000000, string(m.extra())})
		}
		for _, l := range s.Lists {
			lists = append(lists, []any{l.ID, s.ID, l.Name, nil, l.Type, l.Source, l.Order, orNull(l.RemoteURL), orNull(l.RemoteType), !l.Off, l.Jingle, l.PerSongs, l.PerMinutes, l.Minute, l.Weight, orNull(l.Options), nil})
			for i := len(l.Items) - 1; i >= 0; i-- { // rows lie in no order
				items = append(items, []any{len(items) + 1, l.ID, l.Items[i], nil, i + 1, 1, 0})
			}
			for _, t := range l.Times {
				times = append(times, t.row(len(times)+1, l.ID, nil))
			}
		}
		for _, p := range s.Streamers {
			streamers = append(streamers, []any{p.ID, s.ID, p.Login, "$argon2id$v=19$m=65536,t=4,p=1$c2VjcmV0$x", p.Name, p.Comment, !p.Off})
			for _, t := range p.Times {
				times = append(times, t.row(len(times)+1, nil, p.ID))
			}
		}
		for _, h := range s.Webhooks {
			events, _ := json.Marshal(h.Events)
			config, _ := json.Marshal(map[string]any{"webhook_url": h.Target, "timeout": "5"})
			hooks = append(hooks, []any{h.ID, s.ID, h.Name, h.Type, !h.Off, string(events), string(config), nil})
		}
	}
	d.table("station", []string{"id int(11)", "name varchar(100)", "short_name varchar(100)", "is_enabled tinyint(1)", "frontend_type varchar(100)", "frontend_config longtext", "radio_base_dir varchar(255)", "timezone varchar(100)", "media_storage_location_id int(11)"}, stations)
	d.table("station_media", []string{"id int(11)", "storage_location_id int(11)", "unique_id varchar(25)", "song_id varchar(50)", "text varchar(512)", "artist varchar(255)", "title varchar(255)", "album varchar(200)", "genre varchar(255)", "lyrics longtext", "isrc varchar(15)", "length double", "path varchar(500)", "mtime int(11)", "extra_metadata longtext"}, media)
	d.table("station_mounts", []string{"id int(11)", "name varchar(100)"}, [][]any{{1, "/radio.mp3"}})
	d.table("station_playlist_media", []string{"id int(11)", "playlist_id int(11)", "media_id int(11)", "folder_id int(11)", "weight int(11)", "is_queued tinyint(1)", "last_played int(11)"}, items)
	d.table("station_playlists", []string{"id int(11)", "station_id int(11)", "name varchar(200)", "description longtext", "type varchar(50)", "source varchar(50)", "playback_order varchar(50)", "remote_url varchar(255)", "remote_type varchar(25)", "is_enabled tinyint(1)", "is_jingle tinyint(1)", "play_per_songs smallint(6)", "play_per_minutes smallint(6)", "play_per_hour_minute smallint(6)", "weight smallint(6)", "backend_options varchar(255)", "played_at datetime(6)"}, lists)
	d.table("station_schedules", []string{"id int(11)", "playlist_id int(11)", "streamer_id int(11)", "start_time smallint(6)", "end_time smallint(6)", "start_date varchar(10)", "end_date varchar(10)", "days varchar(50)", "loop_once tinyint(1)"}, times)
	d.table("station_streamers", []string{"id int(11)", "station_id int(11)", "streamer_username varchar(50)", "streamer_password varchar(255)", "display_name varchar(255)", "comments longtext", "is_active tinyint(1)"}, streamers)
	d.table("station_webhooks", []string{"id int(11)", "station_id int(11)", "name varchar(100)", "type varchar(100)", "is_enabled tinyint(1)", "triggers longtext", "config longtext", "metadata longtext"}, hooks)
	d.table("storage_location", []string{"id int(11)", "type varchar(50)", "adapter varchar(50)", "path varchar(255)"}, storages)
	d.WriteString("DELIMITER ;;\n/*!50003 CREATE*/ /*!50003 TRIGGER x BEFORE INSERT ON y FOR EACH ROW BEGIN SET @a = 'b;'; END */;;\nDELIMITER ;\n" +
		"/*!40101 SET CHARACTER_SET_CLIENT=@OLD_CHARACTER_SET_CLIENT */;\n\n-- Dump completed on 2026-11-28 12:00:00\n")
	return d.Bytes()
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func (m AzuraMedia) extra() []byte {
	all := map[string]any{"amplify": nil, "cue_in": nil, "cue_out": nil, "cross_start_next": nil, "fade_in": nil, "fade_out": nil}
	for name, v := range map[string]float64{"amplify": m.Amplify, "cue_in": m.CueIn, "cue_out": m.CueOut, "cross_start_next": m.CrossStart} {
		if v != 0 {
			all[name] = v
		}
	}
	out, _ := json.Marshal(all)
	return out
}

func (t AzuraTime) row(id int, list, streamer any) []any {
	return []any{id, list, streamer, t.Start, t.End, orNull(t.From), orNull(t.Until), orNull(t.Days), t.LoopOnce}
}

type dumped struct{ bytes.Buffer }

// rowsEach is how many rows one statement has.
const rowsEach = 900

func (d *dumped) table(name string, columns []string, rows [][]any) {
	fmt.Fprintf(d, "--\n-- Table structure for table `%s`\n--\n\nDROP TABLE IF EXISTS `%s`;\n/*!40101 SET @saved_cs_client     = @@character_set_client */;\nCREATE TABLE `%s` (\n", name, name, name)
	for i, c := range columns {
		called, kind, _ := strings.Cut(c, " ")
		extra := " DEFAULT NULL COMMENT 'a, b (c)'"
		if i == 0 {
			extra = " NOT NULL AUTO_INCREMENT"
		}
		if kind == "longtext" {
			extra = " CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL CHECK (json_valid(`" + called + "`))"
		}
		fmt.Fprintf(d, "  `%s` %s%s,\n", called, kind, extra)
	}
	first, _, _ := strings.Cut(columns[0], " ")
	fmt.Fprintf(d, "  PRIMARY KEY (`%s`),\n  KEY `IDX_%s` (`%s`),\n  CONSTRAINT `FK_%s` FOREIGN KEY (`%s`) REFERENCES `x` (`id`) ON DELETE CASCADE\n) ENGINE=InnoDB AUTO_INCREMENT=9 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;\n\n", first, name, first, name, first)
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(d, "LOCK TABLES `%s` WRITE;\n/*!40000 ALTER TABLE `%s` DISABLE KEYS */;\nset autocommit=0;\n", name, name)
	for i, r := range rows {
		switch i % rowsEach {
		case 0:
			fmt.Fprintf(d, "INSERT INTO `%s` VALUES\n(", name)
		default:
			d.WriteString(",\n(")
		}
		for j, v := range r {
			if j > 0 {
				d.WriteByte(',')
			}
			d.value(v)
		}
		d.WriteByte(')')
		if i%rowsEach == rowsEach-1 || i == len(rows)-1 {
			d.WriteString(";\n")
		}
	}
	fmt.Fprintf(d, "/*!40000 ALTER TABLE `%s` ENABLE KEYS */;\nUNLOCK TABLES;\ncommit;\n", name)
}

func (d *dumped) value(v any) {
	switch v := v.(type) {
	case nil:
		d.WriteString("NULL")
	case bool:
		if v {
			d.WriteByte('1')
		} else {
			d.WriteByte('0')
		}
	case string:
		d.WriteByte('\'')
		d.WriteString(strings.NewReplacer(`\`, `\\`, `'`, `\'`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\x00", `\0`, "\x1a", `\Z`).Replace(v))
		d.WriteByte('\'')
	default:
		fmt.Fprint(d, v)
	}
}
