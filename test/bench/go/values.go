package main

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	apiservercel "k8s.io/apiserver/pkg/cel"
)

// typed writes a value with its type, in the form of test/golden/cel (its README has the table). Entries of maps are
// sorted by whoever compares.
func typed(value ref.Val) any {
	switch v := value.(type) {
	case types.Bool:
		return form("bool", bool(v))
	case types.Int:
		return form("int", strconv.FormatInt(int64(v), 10))
	case types.Uint:
		return form("uint", strconv.FormatUint(uint64(v), 10))
	case types.Double:
		return form("double", double(float64(v)))
	case types.String:
		if !utf8.ValidString(string(v)) {
			return form("stringBytes", []byte(v))
		}
		return form("string", string(v))
	case types.Bytes:
		return form("bytes", []byte(v))
	case *types.Err:
		// An optional may hold one.
		return form("error", v.Error())
	case types.Null:
		return form("null", nil)
	case types.Duration:
		return form("duration", strconv.FormatInt(int64(v.Duration), 10))
	case types.Timestamp:
		return form("timestamp", v.UTC().Format(time.RFC3339Nano))
	case *types.Type:
		return form("type", v.TypeName())
	case *types.Optional:
		if !v.HasValue() {
			return form("optional", nil)
		}
		return form("optional", typed(v.GetValue()))
	case apiservercel.Quantity:
		return form("quantity", v.Quantity.String())
	case *apiservercel.Quantity:
		return form("quantity", v.Quantity.String())
	case apiservercel.IP:
		return form("ip", v.Addr.String())
	case apiservercel.CIDR:
		return form("cidr", v.Prefix.String())
	case apiservercel.URL:
		return form("url", v.URL.String())
	case apiservercel.Semver:
		return form("semver", v.Version.String())
	case apiservercel.Format:
		return form("format", v.Name)
	}
	return container(value)
}

func form(kind string, content any) any {
	return map[string]any{kind: content}
}

func double(value float64) any {
	switch {
	case math.IsNaN(value):
		return "NaN"
	case math.IsInf(value, 1):
		return "Infinity"
	case math.IsInf(value, -1):
		return "-Infinity"
	case value == 0 && math.Signbit(value):
		return "-0"
	}
	return value
}

func container(value ref.Val) any {
	switch v := value.(type) {
	case traits.Lister:
		elements := []any{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			elements = append(elements, typed(it.Next()))
		}
		return form("list", elements)
	case traits.Mapper:
		entries := [][2]any{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			entries = append(entries, [2]any{typed(key), typed(v.Get(key))})
		}
		sort.Slice(entries, func(i, j int) bool {
			return fmt.Sprint(entries[i][0]) < fmt.Sprint(entries[j][0])
		})
		return form("map", entries)
	}
	return form("opaque", value.Type().TypeName())
}
